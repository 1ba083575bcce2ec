package bench

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// Decision is how long the engine takes to decide.
type Decision struct {
	Times  Times
	Allocs float64 // allocations per decision
}

// fleet is an engine full of idle sandboxes.
type fleet struct {
	engine    *engine.Engine
	functions int
	now       policies.Time
	actions   []engine.Action
	random    *rand.Rand
}

// Sizes of the fleet that the bars speak of.
const (
	fleetFunctions = 1000
	batch          = 64 // decisions between two readings of the clock
)

// newFleet fills an engine with idle sandboxes, spread evenly over the
// functions, of different size and use. The pool is full then.
func newFleet(preset string, functions, sandboxes int) (*fleet, error) {
	parts, err := catalog.New(preset, "", "", catalog.Params{})
	if err != nil {
		return nil, err
	}
	f := &fleet{functions: functions, now: 1, random: rand.New(rand.NewPCG(1, 2))}
	each := sandboxes / functions
	var pool int64
	for fn := range functions {
		pool += f.size(fn) * int64(each)
	}
	f.engine, err = engine.New(engine.Config{
		PoolMB: pool, Scaler: parts.Scaler, Evictor: parts.Evictor, Picker: parts.Picker, Prewarmer: parts.Prewarmer,
	})
	if err != nil {
		return nil, err
	}
	for fn := range functions {
		f.define(fn, f.size(fn))
		if err := f.grow(policies.FuncID(fn), each); err != nil {
			return nil, err
		}
	}
	for range 5 * sandboxes {
		f.call()
	}
	return f, nil
}

func (f *fleet) size(fn int) int64 { return 64 + int64(fn*37%192) }

func (f *fleet) define(fn int, mb int64) {
	f.step(engine.Event{Kind: engine.EvDefine, Fn: policies.FuncID(fn), Spec: policies.Spec{
		Revision: 1, MB: mb, Slots: 1, ColdEst: time.Duration(mb) * 1700 * time.Microsecond,
	}})
}

func (f *fleet) step(ev engine.Event) []engine.Action {
	f.now += policies.Time(time.Microsecond)
	f.actions = f.engine.Step(f.now, ev, f.actions[:0])
	return f.actions
}

// grow gives a function n idle sandboxes, by n requests at once.
func (f *fleet) grow(fn policies.FuncID, n int) error {
	var starting []policies.SandboxID
	for i := range n {
		for _, a := range f.step(engine.Event{Kind: engine.EvArrive, Fn: fn, Req: policies.RequestID(i)}) {
			if a.Kind == engine.ActStart {
				starting = append(starting, a.Sandbox)
			}
		}
	}
	type running struct {
		req     policies.RequestID
		sandbox policies.SandboxID
	}
	var runs []running
	for _, sandbox := range starting {
		for _, a := range f.step(engine.Event{Kind: engine.EvReady, Sandbox: sandbox, Dur: 100 * time.Millisecond}) {
			if a.Kind == engine.ActRun {
				runs = append(runs, running{a.Req, a.Sandbox})
			}
		}
	}
	if len(runs) != n {
		return fmt.Errorf("fill engine: %d of %d requests run", len(runs), n)
	}
	for _, r := range runs {
		f.step(engine.Event{Kind: engine.EvFinished, Req: r.req, Sandbox: r.sandbox, Dur: 50 * time.Millisecond, OK: true})
	}
	return nil
}

// call is a warm start and its end: two steps. Popular functions get more.
func (f *fleet) call() {
	fn := policies.FuncID(f.random.IntN(1 + f.random.IntN(f.functions)))
	for f.engine.Func(fn).Available == 0 {
		fn = (fn + 1) % policies.FuncID(f.functions)
	}
	actions := f.step(engine.Event{Kind: engine.EvArrive, Fn: fn, Req: 0})
	for _, a := range actions {
		if a.Kind == engine.ActRun {
			f.step(engine.Event{Kind: engine.EvFinished, Req: 0, Sandbox: a.Sandbox, Dur: 50 * time.Millisecond, OK: true})
			return
		}
	}
}

// EngineStep measures one step of the engine with 1,000 functions and 10,000
// idle sandboxes, arrivals and ends of warm requests in turn. Before it
// measures it makes settle calls, so that what the policy remembers of each
// function has its full size.
func EngineStep(preset string, settle, batches int) (Decision, error) {
	f, err := newFleet(preset, fleetFunctions, 10*fleetFunctions)
	if err != nil {
		return Decision{}, err
	}
	for range settle {
		f.call()
	}
	times := make([]time.Duration, 0, batches)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range batches {
		begin := time.Now()
		for range batch / 2 {
			f.call()
		}
		times = append(times, time.Since(begin)/batch)
	}
	runtime.ReadMemStats(&after)
	return Decision{Describe(times), float64(after.Mallocs-before.Mallocs) / float64(batches*batch)}, f.engine.Check()
}

// EngineEvict measures a step that has to choose a victim among idle
// sandboxes of 1,000 functions: a request of a function that has none.
func EngineEvict(preset string, idle, decisions int) (Times, error) {
	f, err := newFleet(preset, fleetFunctions, idle)
	if err != nil {
		return Times{}, err
	}
	const newcomer = fleetFunctions
	f.define(newcomer, 256)
	times := make([]time.Duration, 0, decisions)
	for i := range decisions {
		// What happened meanwhile makes the order of victims stale, as in life.
		for range 8 {
			f.call()
		}
		begin := time.Now()
		actions := f.step(engine.Event{Kind: engine.EvArrive, Fn: newcomer, Req: policies.RequestID(1 + i)})
		elapsed := time.Since(begin)
		var victims []policies.SandboxID
		for _, a := range actions {
			if a.Kind == engine.ActDestroy {
				victims = append(victims, a.Sandbox)
			}
		}
		if len(victims) > 0 {
			times = append(times, elapsed)
		}
		for _, v := range victims {
			f.step(engine.Event{Kind: engine.EvGone, Sandbox: v})
		}
	}
	if len(times) == 0 {
		return Times{}, fmt.Errorf("measure eviction: %d requests evicted nobody", decisions)
	}
	return Describe(times), f.engine.Check()
}
