package enginebench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// Fleet is an engine that holds a fixed number of idle sandboxes in a pool
// that is exactly full.
type Fleet struct {
	e      *engine.Engine
	out    []engine.Action
	now    policies.Time
	refill refill
	err    error

	funcs  int
	each   int               // sandboxes of a function
	rival  policies.FuncID   // whose start needs the memory of a victim
	next   uint64            // counts warm arrivals: which function is next
	flight [againReq + 1]use // by RequestID
	steps  uint64
}

type use struct {
	on   policies.SandboxID
	runs bool
}

const (
	inFlight = 64               // requests of Step that run at a time, ids from 0
	rivalReq = inFlight         // the request of the rival
	againReq = rivalReq + 1     // the request that uses what replaces a victim
	mixed    = 7919             // a prime, so that functions come in no order
	beat     = time.Millisecond // between two events
	exec     = 50 * beat        // as reported
	unit     = 64               // MB, the smallest function; others are 2 and 3 times as large
	planning = 100 * beat       // between two Plans
)

// NewFleet fills an engine with idle sandboxes, the same number of each
// function and at least one, and uses each of them so that policies have
// something to tell them apart. PoolMB and Prewarmer of the configuration are
// replaced, StartSlots, QueueLimit and StarveMin must be 0. It fails if the
// configuration is refused or the policies do not keep the fleet.
func NewFleet(cfg engine.Config, funcs, sandboxes int) (*Fleet, error) {
	if funcs < 2*inFlight || sandboxes < funcs {
		return nil, fmt.Errorf("make fleet: %d functions and %d sandboxes, need at least %d and one of each", funcs, sandboxes, 2*inFlight)
	}
	f := &Fleet{funcs: funcs, rival: policies.FuncID(funcs), now: 1}
	f.each = sandboxes / funcs
	cfg.PoolMB, cfg.Prewarmer = 0, &f.refill
	for i := range funcs {
		cfg.PoolMB += int64(f.each) * sizeOf(i)
	}
	var err error
	if f.e, err = engine.New(cfg); err != nil {
		return nil, fmt.Errorf("make fleet: %w", err)
	}
	// The rival's sandboxes serve one request, so that it never has an idle one.
	for i := range funcs {
		f.feed(engine.Event{Kind: engine.EvDefine, Fn: policies.FuncID(i), Spec: policies.Spec{MB: sizeOf(i)}})
	}
	f.feed(engine.Event{Kind: engine.EvDefine, Fn: f.rival, Spec: policies.Spec{MB: unit, OneShot: true}})
	for i := range funcs { // the first Plan was asked before there were functions
		f.refill.wants = append(f.refill.wants, policies.Want{Fn: policies.FuncID(i), N: f.each, MayEvict: true})
	}
	f.fill()
	for range 4 * f.each * funcs {
		f.Step()
	}
	return f, f.Err()
}

func sizeOf(i int) int64 { return unit * int64(1+i%3) }

// refill is the prewarmer that makes the fleet, and replaces victims.
type refill struct {
	wants []policies.Want
	at    policies.Time
}

// Plan hands over what is wanted, once.
func (r *refill) Plan(v policies.View) ([]policies.Want, policies.Time) {
	w := r.wants
	r.wants = r.wants[:0]
	r.at = v.Now().Add(planning)
	return w, r.at
}

func (f *Fleet) feed(ev engine.Event) []engine.Action {
	f.now = f.now.Add(beat)
	f.out = f.e.Step(f.now, ev, f.out[:0])
	return f.out
}

// fill lets the prewarmer speak, and makes ready what it starts.
func (f *Fleet) fill() {
	f.now = max(f.now, f.refill.at)
	for _, a := range slices.Clone(f.feed(engine.Event{Kind: engine.EvTick})) {
		if a.Kind != engine.ActStart {
			f.fail("refill", []engine.Action{a})
			return
		}
		f.feed(engine.Event{Kind: engine.EvReady, Sandbox: a.Sandbox, Dur: beat})
	}
}

func (f *Fleet) fail(doing string, got []engine.Action) {
	if f.err == nil {
		f.err = fmt.Errorf("%s: unexpected actions %+v", doing, got)
	}
}

// Err reports the first thing that went otherwise than meant, and whether the
// engine's invariants hold. It takes time in proportion to the fleet.
func (f *Fleet) Err() error { return errors.Join(f.err, f.e.Check()) }
