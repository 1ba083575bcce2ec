package faascache

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

const ms1 = time.Millisecond

// world is what the evictor sees, and a hand that moves it.
type world struct {
	t     *testing.T
	c     *FaasCache
	now   policies.Time
	node  policies.Node
	funcs []policies.Func
	boxes []policies.Sandbox
	seq   uint64
}

func (w *world) Now() policies.Time                              { return w.now }
func (w *world) Node() *policies.Node                            { return &w.node }
func (w *world) Func(id policies.FuncID) *policies.Func          { return &w.funcs[id] }
func (w *world) Sandbox(id policies.SandboxID) *policies.Sandbox { return &w.boxes[id] }

// newWorld has f0 of 100 MB and f1 of 50 MB.
func newWorld(t *testing.T, cfg Config) *world {
	return &world{t: t, c: New(cfg), now: 1, funcs: []policies.Func{
		{ID: 0, Spec: policies.Spec{MB: 100}}, {ID: 1, Spec: policies.Spec{MB: 50}},
	}}
}

func (w *world) fact(k policies.FactKind, id policies.SandboxID) {
	w.c.Observe(w, policies.Fact{Kind: k, Fn: w.boxes[id].Fn, Sandbox: id})
}

// start makes a sandbox that is ready after the given time, and idle.
func (w *world) start(fn policies.FuncID, cold time.Duration) policies.SandboxID {
	id := policies.SandboxID(len(w.boxes))
	w.boxes = append(w.boxes, policies.Sandbox{ID: id, Fn: fn, Born: uint64(id) + 1, MB: w.funcs[fn].Spec.MB, StartedAt: w.now})
	w.funcs[fn].Live++
	w.fact(policies.FactStarted, id)
	w.now = w.now.Add(cold)
	w.boxes[id].ReadyAt, w.boxes[id].LastUse = w.now, w.now
	w.fact(policies.FactReady, id)
	w.c.Insert(w, id)
	return id
}

func (w *world) use(id policies.SandboxID) {
	w.c.Remove(w, id)
	w.fact(policies.FactUsed, id)
	w.now = w.now.Add(ms1)
	w.boxes[id].LastUse = w.now
	w.c.Insert(w, id)
}

// evict expects a victim and ends it.
func (w *world) evict(want policies.SandboxID) {
	w.t.Helper()
	w.seq++
	id, ok := w.c.Next(w, policies.Start{Seq: w.seq})
	if !ok || id != want {
		w.t.Fatalf("victim is %d (%v), want %d", id, ok, want)
	}
	w.c.Remove(w, id)
	w.fact(policies.FactEvicted, id)
	w.funcs[w.boxes[id].Fn].Live--
	w.fact(policies.FactGone, id)
}

func (w *world) priority(fn policies.FuncID, want float64) {
	w.t.Helper()
	if got := w.c.of(fn).priority; got != want {
		w.t.Fatalf("priority of f%d is %v, want %v", fn, got, want)
	}
}

func (w *world) clock(want float64) {
	w.t.Helper()
	if w.c.clock != want {
		w.t.Fatalf("clock is %v, want %v", w.c.clock, want)
	}
}

// TestEquation1 follows FaasCache by hand: Clock + Freq * Cost / Size.
func TestEquation1(t *testing.T) {
	w := newWorld(t, Config{})
	a := w.start(0, 200*ms1)
	w.use(a)
	w.priority(0, 2) // 0 + 1 * 200 / 100
	w.use(a)
	w.priority(0, 4)
	b := w.start(1, 400*ms1)
	w.use(b)
	w.priority(1, 8) // 0 + 1 * 400 / 50
	c := w.start(0, 200*ms1)
	w.priority(0, 4) // a start is no use
	w.use(c)
	w.priority(0, 6) // its three uses, shared by both sandboxes
	w.evict(a)       // the older use of the two
	w.clock(6)
	w.priority(0, 6) // renewed by the next use only
	w.use(c)
	w.priority(0, 10) // 6 + (1+1) * 200 / 100: a took its two uses with it
	w.evict(b)
	w.clock(8)
	w.evict(c)
	w.clock(10)
	d := w.start(0, 500*ms1)
	w.use(d)
	w.priority(0, 13) // 10 + 1 * 300 / 100: the mean of 200, 200 and 500 ms
}

// TestEquation2 follows FaasCache-C by hand: K is the function's live
// sandboxes, and a change of it renews the priority.
func TestEquation2(t *testing.T) {
	w := newWorld(t, Config{PerSandbox: true})
	a := w.start(0, 200*ms1)
	w.use(a)
	w.use(a)
	w.priority(0, 4)
	b := w.start(1, 400*ms1)
	w.use(b)
	c := w.start(0, 200*ms1)
	w.priority(0, 2) // 0 + 2 * 200 / (100 * 2)
	w.use(c)
	w.priority(0, 3)
	w.evict(a)
	w.clock(3)
	w.priority(0, 2) // 0 + 1 * 200 / (100 * 1), from the clock of its last use
	w.evict(c)
	w.clock(3) // never falls
	d := w.start(0, 200*ms1)
	w.use(d)
	w.priority(0, 5) // 3 + 1 * 200 / 100
	w.evict(d)
	w.evict(b)
	w.clock(8)
}

func TestTiesGoToTheOlderUseThenTheOlderSandbox(t *testing.T) {
	w := newWorld(t, Config{})
	w.funcs[1] = w.funcs[0]
	w.funcs[1].ID = 1
	a, b, c := w.start(0, 100*ms1), w.start(1, 100*ms1), w.start(0, 100*ms1)
	for i := range w.boxes { // all as if last used at once
		w.c.Remove(w, policies.SandboxID(i))
		w.boxes[i].LastUse = w.now
		w.c.Insert(w, policies.SandboxID(i))
	}
	w.c.Remove(w, b)
	w.boxes[b].LastUse--
	w.c.Insert(w, b)
	w.evict(b)
	w.evict(a)
	w.evict(c)
	if _, ok := w.c.Next(w, policies.Start{}); ok {
		t.Error("a victim where nothing is idle")
	}
}

func TestCostBeforeSamples(t *testing.T) {
	w := newWorld(t, Config{ColdPerMB: 2 * ms1})
	if got := w.c.of(0).cost.Millis(&w.funcs[0], w.c.cfg.ColdPerMB); got != 200 {
		t.Errorf("cost from memory is %v ms, want 200", got)
	}
	w.funcs[0].ColdNow = 70 * ms1
	if got := w.c.of(0).cost.Millis(&w.funcs[0], w.c.cfg.ColdPerMB); got != 70 {
		t.Errorf("cost from the estimate is %v ms, want 70", got)
	}
}

func TestNothingExpires(t *testing.T) {
	w := newWorld(t, Config{})
	w.start(0, ms1)
	w.now = w.now.Add(1000 * time.Hour)
	if id, _, at := w.c.Expire(w); id != policies.NoSandbox || at != policies.Never {
		t.Errorf("Expire = %d at %d, want nothing, never", id, at)
	}
}
