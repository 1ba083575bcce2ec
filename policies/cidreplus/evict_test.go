package cidreplus

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

// world is a View of a few functions.
type world struct {
	now   policies.Time
	node  policies.Node
	funcs []policies.Func
	boxes []policies.Sandbox
}

func (w *world) Now() policies.Time                              { return w.now }
func (w *world) Node() *policies.Node                            { return &w.node }
func (w *world) Func(id policies.FuncID) *policies.Func          { return &w.funcs[id] }
func (w *world) Sandbox(id policies.SandboxID) *policies.Sandbox { return &w.boxes[id] }

func marginal(t *testing.T, tau time.Duration) *Marginal {
	t.Helper()
	m, err := NewMarginal(EvictConfig{Tau: tau, ColdPerMB: ms})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Arrivals that brought f to 1, 2, 1, 2, 3 requests at 0, 0, 10, 10, 10 s,
// tau = 10 s, 100 MB, cold start 200 ms. At 20 s: h[1] = h[2] = e^-2 + e^-1 =
// 0.5032, h[3] = e^-1 = 0.3679, h[4] = 0. The value is h * 200 ms / 100 MB.
func TestScore(t *testing.T) {
	m := marginal(t, 10*sec)
	w := &world{funcs: []policies.Func{{Spec: policies.Spec{MB: 100, Slots: 1}, ColdNow: 200 * ms}}}
	start := policies.Time(1)
	for _, a := range []struct {
		at    time.Duration
		level int
	}{{0, 1}, {0, 2}, {10 * sec, 1}, {10 * sec, 2}, {10 * sec, 3}} {
		w.now, w.funcs[0].InFlight = start.Add(a.at), a.level
		m.Observe(w, policies.Fact{Kind: policies.FactArrived})
	}
	unit := math.Log(float64(200*ms)) - math.Log(100) + float64(start.Add(20*sec))/float64(10*sec)
	value := func(live, slots int) float64 {
		w.funcs[0].Live, w.funcs[0].Spec.Slots = live, slots
		return math.Exp(m.score(&w.funcs[0]) - unit)
	}
	for _, c := range []struct {
		live, slots int
		want        float64
	}{
		{1, 1, 0.5032},
		{2, 1, 0.5032},
		{3, 1, 0.3679},
		{4, 1, 0},
		{1, 2, 1.0064},
		{2, 2, 0.3679}, // two slots: levels 1 and 2, levels 3 and 4
	} {
		if got := value(c.live, c.slots); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("%d sandboxes of %d slots: %v, want %v", c.live, c.slots, got, c.want)
		}
	}
}

// The heap's victim is always the one that a scan over the definition finds.
func TestVictimIsWhatAScanFinds(t *testing.T) {
	const tau = 20 * sec
	rng := rand.New(rand.NewPCG(7, 8))
	m, w := marginal(t, tau), &world{now: 1}
	arrivals := make([]map[int][]policies.Time, 5) // by function and level
	for i := range arrivals {
		arrivals[i] = map[int][]policies.Time{}
		w.funcs = append(w.funcs, policies.Func{ID: policies.FuncID(i), ColdNow: time.Duration(1+rng.IntN(5)) * sec, Spec: policies.Spec{MB: int64(10 + rng.IntN(90)), Slots: 1}})
	}
	for i := range 30 {
		w.boxes = append(w.boxes, policies.Sandbox{ID: policies.SandboxID(i), Fn: policies.FuncID(i % 5), Born: uint64(i + 1), LastUse: policies.Time(rng.IntN(9))})
	}
	idle := map[policies.SandboxID]bool{}
	for step := range 4000 {
		w.now = w.now.Add(time.Duration(rng.IntN(1000)) * ms)
		b := &w.boxes[rng.IntN(len(w.boxes))]
		f := &w.funcs[b.Fn]
		switch {
		case rng.IntN(3) == 0:
			f.InFlight = 1 + rng.IntN(7)
			arrivals[b.Fn][f.InFlight] = append(arrivals[b.Fn][f.InFlight], w.now)
			m.Observe(w, policies.Fact{Kind: policies.FactArrived, Fn: b.Fn})
		case idle[b.ID]:
			m.Remove(w, b.ID)
			f.Live--
			m.Observe(w, policies.Fact{Kind: policies.FactGone, Fn: b.Fn, Sandbox: b.ID})
			delete(idle, b.ID)
		default:
			f.Live++
			m.Observe(w, policies.Fact{Kind: policies.FactStarted, Fn: b.Fn, Sandbox: b.ID})
			m.Insert(w, b.ID)
			idle[b.ID] = true
		}
		got, ok := m.Next(w, policies.Start{})
		if ok != (len(idle) > 0) {
			t.Fatalf("step %d: victim %v, %d idle", step, ok, len(idle))
		}
		if ok && !least(w, arrivals, idle, got, tau) {
			t.Fatalf("step %d: %d is not the least valuable", step, got)
		}
	}
}

// value is the definition, term by term.
func value(w *world, arrivals []map[int][]policies.Time, fn policies.FuncID, tau time.Duration) float64 {
	f := &w.funcs[fn]
	h := 0.0
	for _, at := range arrivals[fn][f.Live] {
		h += math.Exp(-float64(w.now.Sub(at)) / float64(tau))
	}
	return h * float64(f.ColdNow) / float64(f.Spec.MB)
}

// least reports whether id is the least recently used of a function with the
// least value, rounding aside.
func least(w *world, arrivals []map[int][]policies.Time, idle map[policies.SandboxID]bool, id policies.SandboxID, tau time.Duration) bool {
	b := &w.boxes[id]
	mine := value(w, arrivals, b.Fn, tau)
	for o := range idle {
		x := &w.boxes[o]
		if value(w, arrivals, x.Fn, tau) < mine*(1-1e-9) {
			return false
		}
		if x.Fn == b.Fn && (x.LastUse < b.LastUse || (x.LastUse == b.LastUse && x.Born < b.Born)) {
			return false
		}
	}
	return true
}

func TestHighLevelsAreBounded(t *testing.T) {
	m := marginal(t, sec)
	w := &world{now: 1, funcs: []policies.Func{{InFlight: maxLevel + 1, Spec: policies.Spec{MB: 1}}}}
	m.Observe(w, policies.Fact{Kind: policies.FactArrived})
	if n := len(m.funcs[0].level); n != 0 {
		t.Errorf("%d levels for an arrival beyond the bound", n)
	}
	for _, cfg := range []EvictConfig{{0, ms}, {sec, 0}} {
		if _, err := NewMarginal(cfg); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
}
