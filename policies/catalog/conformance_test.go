package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
)

// What every policy must do, whatever it decides: keep the engine's
// invariants, answer everybody, decide the same again, and allocate nothing
// while it does.

// recorded is a workload that is known before it runs, and its own oracle.
type recorded struct {
	fns    []enginetest.Fn
	calls  []recordedCall
	events []plannedEvent
	now    func() time.Duration
	byFn   [][]time.Duration
}

type recordedCall struct {
	at, exec, patience time.Duration // patience 0 is endless
	fn                 policies.FuncID
}

type plannedEvent struct {
	at time.Duration
	ev engine.Event
}

// NextArrival and Exec make it a policies.Oracle. No two calls of a function
// arrive at the same moment.
func (r *recorded) NextArrival(fn policies.FuncID, k int) policies.Time {
	at := r.byFn[fn]
	i, found := slices.BinarySearch(at, r.now())
	if found {
		i++
	}
	if i+k-1 >= len(at) {
		return policies.Never
	}
	return policies.Time(1).Add(at[i+k-1])
}

func (r *recorded) Exec(id policies.RequestID) time.Duration { return r.calls[id].exec }

const (
	functions = 8
	span      = 25 * time.Minute
)

// record makes a workload of bursts and pauses, with faults.
func record(seed uint64) *recorded {
	rng := rand.New(rand.NewPCG(seed, 1))
	r := &recorded{byFn: make([][]time.Duration, functions)}
	for i := range functions {
		cold := time.Duration(20+rng.IntN(600)) * time.Millisecond
		fn := enginetest.Fn{Cold: cold, Spec: policies.Spec{
			Revision: 1, MB: int64(40 + rng.IntN(160)), Slots: 1 + rng.IntN(4)/3,
			Layer: policies.LayerID(rng.IntN(3)), ColdEst: cold,
		}}
		if rng.IntN(4) == 0 {
			fn.Spec.Max = 2
		}
		if rng.IntN(4) == 0 {
			fn.Fail = func(n int) (engine.Fault, bool) { return engine.Fault(n % 2), n%5 == 0 }
		}
		r.fns = append(r.fns, fn)
		r.bursts(rng, policies.FuncID(i))
	}
	slices.SortFunc(r.calls, func(a, b recordedCall) int { return int(a.at - b.at) })
	for _, c := range r.calls {
		r.byFn[c.fn] = append(r.byFn[c.fn], c.at)
	}
	r.faults(rng)
	return r
}

// bursts adds the calls of one function.
func (r *recorded) bursts(rng *rand.Rand, fn policies.FuncID) {
	mean := time.Duration(20+rng.IntN(800)) * time.Millisecond
	used := map[time.Duration]bool{}
	for range 4 + rng.IntN(10) {
		begin := time.Duration(rng.Int64N(int64(span)))
		for range 1 + rng.IntN(9) {
			at := (begin + time.Duration(rng.Int64N(int64(2*time.Second)))).Truncate(time.Microsecond)
			if used[at] {
				continue
			}
			used[at] = true
			c := recordedCall{at: at, fn: fn, exec: time.Duration(float64(mean) * rng.ExpFloat64())}
			if rng.IntN(20) == 0 {
				c.patience = time.Duration(rng.IntN(500)) * time.Millisecond
			}
			r.calls = append(r.calls, c)
		}
	}
}

// faults plans what an operator does meanwhile.
func (r *recorded) faults(rng *rand.Rand) {
	again := r.fns[0].Spec
	again.Revision, again.MB, again.Layer = 2, again.MB+10, again.Layer^1
	r.events = append(r.events,
		plannedEvent{span / 3, engine.Event{Kind: engine.EvDefine, Fn: 0, Spec: again}},
		plannedEvent{span / 2, engine.Event{Kind: engine.EvResize, MB: 500}},
		plannedEvent{span * 2 / 3, engine.Event{Kind: engine.EvResize, MB: int64(600 + rng.IntN(600))}},
		plannedEvent{span * 3 / 4, engine.Event{Kind: engine.EvForget, Fn: 1}})
}

// play runs the workload under a preset and returns the run.
func play(t *testing.T, preset string, r *recorded, seed uint64, check bool) *enginetest.Harness {
	t.Helper()
	h := &enginetest.Harness{}
	r.now = func() time.Duration { return h.Now() }
	p, err := catalog.New(preset, "", "", catalog.Params{Oracle: r})
	if err != nil {
		t.Fatal(err)
	}
	*h = *enginetest.New(t, engine.Config{
		PoolMB: 900, StarveMin: time.Second, StartSlots: int(seed % 3 * 4),
		Scaler: p.Scaler, Evictor: p.Evictor, Picker: p.Picker, Prewarmer: p.Prewarmer,
	}, r.fns...)
	h.Destroy, h.NoCheck = 7*time.Millisecond, !check
	if shaper, ok := p.Evictor.(policies.Shaper); ok {
		h.Reshape = func(a engine.Action) (time.Duration, int64) {
			return 5 * time.Millisecond, shaper.HeldMB(a.MB, a.Form)
		}
	}
	ends := 0
	h.Ends = func(engine.Action) engine.Event {
		ends++
		return engine.Event{Kind: engine.EvFinished, OK: ends%17 != 0}
	}
	for _, c := range r.calls {
		id := h.Arrive(c.at, c.fn, c.exec)
		if c.patience > 0 {
			h.Cancel(c.at+c.patience, id)
		}
	}
	for _, e := range r.events {
		h.Plan(e.at, e.ev)
	}
	h.Run(span + 10*time.Minute)
	return h
}

func presets(t *testing.T, each func(t *testing.T, preset string)) {
	for _, name := range catalog.Names("") {
		t.Run(name, func(t *testing.T) { each(t, name) })
	}
}

func TestEveryPresetAnswersEverybodyAndKeepsTheInvariants(t *testing.T) {
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	presets(t, func(t *testing.T, preset string) {
		for seed := range seeds {
			r := record(seed)
			h := play(t, preset, r, seed, true)
			for id, got := range h.Results {
				answered := got.Done || got.Rejected != engine.ReasonNone || (!got.Served && r.calls[id].patience > 0)
				if !answered {
					t.Fatalf("seed %d: request %d was not answered: %+v\n%s", seed, id, got, h.Transcript())
				}
			}
		}
	})
}

func TestEveryPresetDecidesTheSameAgain(t *testing.T) {
	presets(t, func(t *testing.T, preset string) {
		a, b := play(t, preset, record(3), 3, false), play(t, preset, record(3), 3, false)
		if a.Transcript() != b.Transcript() {
			t.Error("two runs of one workload differ")
		}
	})
}

// loop is a driver that answers at once, for one engine under pressure.
type loop struct {
	e   *engine.Engine
	now policies.Time
	n   int
	out []engine.Action
	due []engine.Event
}

const loopFunctions = 100

func newLoop(t testing.TB, preset string) *loop {
	t.Helper()
	l := &loop{now: 1}
	p, err := catalog.New(preset, "", "", catalog.Params{Oracle: l})
	if err != nil {
		t.Fatal(err)
	}
	l.e, err = engine.New(engine.Config{
		PoolMB: loopFunctions * 60, Scaler: p.Scaler, Evictor: p.Evictor, Picker: p.Picker, Prewarmer: p.Prewarmer,
	})
	if err != nil {
		t.Fatal(err)
	}
	for fn := range policies.FuncID(loopFunctions) {
		l.feed(engine.Event{Kind: engine.EvDefine, Fn: fn, Spec: policies.Spec{
			Revision: 1, MB: 50 + int64(fn), Slots: 1, Layer: policies.LayerID(fn % 3), ColdEst: 100 * time.Millisecond,
		}})
	}
	return l
}

// NextArrival and Exec make it an oracle that knows about as much as needed.
func (l *loop) NextArrival(fn policies.FuncID, k int) policies.Time {
	return l.now.Add(time.Duration(int(fn)*k+1) * time.Second)
}

func (l *loop) Exec(policies.RequestID) time.Duration { return 10 * time.Millisecond }

// feed gives an event and everything that follows from it to the engine.
func (l *loop) feed(ev engine.Event) {
	l.due = append(l.due[:0], ev)
	for i := 0; i < len(l.due); i++ {
		l.now = l.now.Add(time.Millisecond)
		l.out = l.e.Step(l.now, l.due[i], l.out[:0])
		for _, a := range l.out {
			l.answer(&a)
		}
	}
}

func (l *loop) answer(a *engine.Action) {
	ev := engine.Event{Sandbox: a.Sandbox, Req: a.Req, Dur: time.Millisecond, OK: true}
	switch a.Kind {
	case engine.ActStart:
		ev.Kind = engine.EvReady
	case engine.ActRun:
		ev.Kind = engine.EvFinished
	case engine.ActReshape:
		ev.Kind, ev.Form, ev.MB = engine.EvReshaped, a.Form, max(1, a.MB/2)
	case engine.ActDestroy:
		ev.Kind = engine.EvGone
	case engine.ActReject:
		return
	}
	l.due = append(l.due, ev)
}

// next sends one request: a few functions get most of them.
func (l *loop) next() {
	l.n++
	fn := l.n * l.n % 7
	if l.n%5 == 0 {
		fn = l.n / 5 % loopFunctions
	}
	l.now = l.now.Add(20 * time.Millisecond)
	l.feed(engine.Event{Kind: engine.EvArrive, Fn: policies.FuncID(fn), Req: policies.RequestID(l.n % 4)})
}

func TestEveryPresetAllocatesNextToNothing(t *testing.T) {
	presets(t, func(t *testing.T, preset string) {
		l := newLoop(t, preset)
		for range 6_000 {
			l.next()
		}
		if err := l.e.Check(); err != nil {
			t.Fatal(err)
		}
		// What grows with history (windows, levels) doubles now and then.
		if n := testing.AllocsPerRun(1_000, l.next); n > 0 {
			t.Errorf("%.0f allocations per request", n)
		}
	})
}

func BenchmarkPresets(b *testing.B) {
	for _, name := range catalog.Names("") {
		b.Run(name, func(b *testing.B) {
			l := newLoop(b, name)
			for range 5_000 {
				l.next()
			}
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				l.next()
			}
		})
	}
}

func ExampleNew() {
	p, err := catalog.New("ttl", "", "", catalog.Params{Values: map[string]string{"ttl": "90s"}})
	fmt.Println(p.Name, err)
	_, err = catalog.New("ttl", "", "", catalog.Params{Values: map[string]string{"tll": "90s"}})
	fmt.Println(err)
	// Output:
	// ttl <nil>
	// unknown parameter "tll", did you mean "ttl"? known: ttl, ttl-from
}
