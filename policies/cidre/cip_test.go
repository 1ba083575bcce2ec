package cidre_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/cidre"
)

// cipWorld is a world for one evictor, and what Equation 3 says about it,
// computed anew from the formula whenever it is asked.
type cipWorld struct {
	t     *testing.T
	r     *rand.Rand
	c     *cidre.CIP
	now   policies.Time
	node  policies.Node
	funcs []policies.Func
	boxes []policies.Sandbox
	free  []policies.SandboxID
	born  uint64
	seq   uint64

	inflated bool
	last     float64           // priority of the last victim
	clock    []float64         // by SandboxID
	cold     [][]time.Duration // by FuncID
	evicted  int
}

func (w *cipWorld) Now() policies.Time                              { return w.now }
func (w *cipWorld) Node() *policies.Node                            { return &w.node }
func (w *cipWorld) Func(id policies.FuncID) *policies.Func          { return &w.funcs[id] }
func (w *cipWorld) Sandbox(id policies.SandboxID) *policies.Sandbox { return &w.boxes[id] }

func newCIPWorld(t *testing.T, seed uint64, inflated bool) *cipWorld {
	r := rand.New(rand.NewPCG(seed, 7))
	w := &cipWorld{t: t, r: r, now: 1, inflated: inflated, c: cidre.NewCIP(cidre.CIPConfig{Inflated: inflated})}
	for i := range 1 + r.IntN(50) {
		w.funcs = append(w.funcs, policies.Func{
			ID: policies.FuncID(i), Spec: policies.Spec{MB: int64(1 + r.IntN(20)*16)},
			ColdNow: time.Duration(r.IntN(3)*100) * time.Millisecond,
		})
	}
	w.cold = make([][]time.Duration, len(w.funcs))
	return w
}

func (w *cipWorld) cost(fn policies.FuncID) float64 {
	f := &w.funcs[fn]
	if len(w.cold[fn]) == 0 {
		if f.ColdNow > 0 {
			return float64(f.ColdNow) / float64(time.Millisecond)
		}
		return float64(f.Spec.MB) * 1.7
	}
	sum := 0.0
	for _, d := range w.cold[fn] {
		sum += float64(d) / float64(time.Millisecond)
	}
	return sum / float64(len(w.cold[fn]))
}

// gain is Freq * Cost / (Size * |F|), Freq by Equation 4.
func (w *cipWorld) gain(fn policies.FuncID, requests int64) float64 {
	f := &w.funcs[fn]
	minutes := max(1, w.now.Sub(f.FirstArrival).Minutes())
	return float64(requests) / minutes * w.cost(fn) / (float64(f.Spec.MB) * float64(f.Live))
}

func (w *cipWorld) priority(b *policies.Sandbox) float64 {
	return w.clock[b.ID] + w.gain(b.Fn, w.funcs[b.Fn].Arrived)
}

// scan is the order of all idle sandboxes, and their priorities.
func (w *cipWorld) scan() (ids []policies.SandboxID, prio []float64) {
	var idle []*policies.Sandbox
	for i := range w.boxes {
		if w.boxes[i].State == policies.Idle {
			idle = append(idle, &w.boxes[i])
		}
	}
	slices.SortFunc(idle, func(a, b *policies.Sandbox) int {
		return cmp.Or(cmp.Compare(w.priority(a), w.priority(b)), cmp.Compare(a.LastUse, b.LastUse), cmp.Compare(a.Born, b.Born))
	})
	for _, b := range idle {
		ids, prio = append(ids, b.ID), append(prio, w.priority(b))
	}
	return ids, prio
}

func (w *cipWorld) observe(k policies.FactKind, b *policies.Sandbox, seq uint64) {
	w.c.Observe(w, policies.Fact{Kind: k, Fn: b.Fn, Sandbox: b.ID, Seq: seq})
}

// start makes a sandbox of a function that is being provisioned.
func (w *cipWorld) start(fn policies.FuncID, seq uint64, clock float64) {
	id := policies.SandboxID(len(w.boxes))
	if n := len(w.free); n > 0 {
		id = w.free[n-1]
		w.free = w.free[:n-1]
	} else {
		w.boxes = append(w.boxes, policies.Sandbox{})
		w.clock = append(w.clock, 0)
	}
	w.born++
	w.boxes[id] = policies.Sandbox{ID: id, Fn: fn, Born: w.born, MB: w.funcs[fn].Spec.MB, State: policies.Provisioning, StartedAt: w.now}
	w.clock[id] = clock
	w.funcs[fn].Live++
	w.observe(policies.FactStarted, &w.boxes[id], seq)
}

// firstClock is the clock of a sandbox that nobody made way for.
func (w *cipWorld) firstClock() float64 {
	if w.inflated {
		return w.last
	}
	return 0
}

func (w *cipWorld) arrive(fn policies.FuncID) {
	f := &w.funcs[fn]
	if f.Arrived++; f.Arrived == 1 {
		f.FirstArrival = w.now
	}
}

// evict lets a start have the n cheapest sandboxes, and checks each of them.
func (w *cipWorld) evict(n int) {
	ids, prio := w.scan()
	n = min(n, len(ids))
	w.seq++
	s := policies.Start{Seq: w.seq, Fn: policies.FuncID(w.r.IntN(len(w.funcs)))}
	clock := w.firstClock()
	for i := range n {
		id, ok := w.c.Next(w, s)
		if !ok || id != ids[i] {
			w.t.Fatalf("victim %d of %d is %d, a scan says %d with priority %v", i, n, id, ids[i], prio[i])
		}
		b := &w.boxes[id]
		w.c.Remove(w, id)
		w.observe(policies.FactEvicted, b, s.Seq)
		b.State = policies.Dying
		w.funcs[b.Fn].Live--
		w.observe(policies.FactGone, b, s.Seq)
		w.evicted++
	}
	if n > 0 {
		clock, w.last = prio[n-1], prio[n-1]
	}
	w.start(s.Fn, s.Seq, clock)
}

func (w *cipWorld) step() {
	w.now = w.now.Add(time.Duration(w.r.ExpFloat64() * float64(200*time.Millisecond)))
	if w.r.IntN(200) == 0 {
		w.now = w.now.Add(time.Duration(w.r.IntN(600)) * time.Second)
	}
	fn := policies.FuncID(w.r.IntN(len(w.funcs)))
	if w.r.IntN(8) == 0 {
		w.evict(1 + w.r.IntN(4))
		return
	}
	w.arrive(fn)
	if len(w.boxes) < 400 && w.r.IntN(3) == 0 {
		w.seq++
		w.start(fn, w.seq, w.firstClock())
	}
	for range 3 {
		w.progress()
	}
}

// progress moves one sandbox a step on in its life.
func (w *cipWorld) progress() {
	if len(w.boxes) == 0 {
		return
	}
	b := &w.boxes[w.r.IntN(len(w.boxes))]
	switch b.State {
	case policies.Provisioning:
		b.State, b.ReadyAt, b.LastUse = policies.Idle, w.now, w.now
		w.cold[b.Fn] = append(w.cold[b.Fn], w.now.Sub(b.StartedAt))
		w.observe(policies.FactReady, b, 0)
		w.c.Insert(w, b.ID)
	case policies.Idle:
		w.arrive(b.Fn)
		w.c.Remove(w, b.ID)
		b.State = policies.Busy
		w.clock[b.ID] += w.gain(b.Fn, w.funcs[b.Fn].Arrived-1)
		w.observe(policies.FactUsed, b, 0)
	case policies.Busy:
		b.State, b.LastUse = policies.Idle, w.now
		w.c.Insert(w, b.ID)
	case policies.Dying:
		b.State = policies.Gone
		w.free = append(w.free, b.ID)
	case policies.Gone:
	}
}

// TestCIPOrderEqualsScan: section 3.3. Thousands of evictions, one by one and
// in batches, over changing time: always what a scan by Equation 3 says.
func TestCIPOrderEqualsScan(t *testing.T) {
	evicted := 0
	for seed := range uint64(40) {
		w := newCIPWorld(t, seed, seed%2 == 1)
		for range 1000 {
			w.step()
		}
		evicted += w.evicted
	}
	if evicted < 5000 {
		t.Errorf("only %d evictions were compared", evicted)
	}
}
