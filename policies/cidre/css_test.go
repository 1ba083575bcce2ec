package cidre_test

// Algorithm 1 of the paper, line by line, on a world of one function that the
// test moves by hand. Lines 6 to 9 and 13 to 16 (who serves the request
// first) are the engine's; see claims_test.go there.

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/cidre"
)

const ms = time.Millisecond

// world is a View of one function.
type world struct {
	t     *testing.T
	css   *cidre.CSS
	now   policies.Time
	node  policies.Node
	f     policies.Func
	boxes []*policies.Sandbox
}

func (w *world) Now() policies.Time                              { return w.now }
func (w *world) Node() *policies.Node                            { return &w.node }
func (w *world) Func(policies.FuncID) *policies.Func             { return &w.f }
func (w *world) Sandbox(id policies.SandboxID) *policies.Sandbox { return w.boxes[id] }
func (w *world) at(d time.Duration)                              { w.now = policies.Time(1).Add(d) }
func (w *world) observe(f policies.Fact)                         { w.css.Observe(w, f) }
func (w *world) executed(d time.Duration) {
	w.observe(policies.Fact{Kind: policies.FactFinished, Dur: d})
}

func (w *world) fact(k policies.FactKind, b *policies.Sandbox) {
	w.observe(policies.Fact{Kind: k, Sandbox: b.ID})
}
func (w *world) recheck() policies.Verdict { return w.css.Recheck(w, 0) }

func newWorld(t *testing.T, cfg cidre.CSSConfig) *world {
	t.Helper()
	css, err := cidre.NewCSS(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, css: css}
	w.f.Spec = policies.Spec{MB: 100, Slots: 1, ColdEst: 100 * ms}
	w.f.ColdNow = 100 * ms
	w.f.Live = 1
	w.at(0)
	return w
}

// start begins a sandbox now; ready makes it ready.
func (w *world) start(cause policies.Cause) *policies.Sandbox {
	b := &policies.Sandbox{ID: policies.SandboxID(len(w.boxes)), Born: uint64(len(w.boxes) + 1), Cause: cause, StartedAt: w.now}
	w.boxes = append(w.boxes, b)
	w.fact(policies.FactStarted, b)
	return b
}

func (w *world) ready(b *policies.Sandbox) *policies.Sandbox {
	b.ReadyAt = w.now
	w.fact(policies.FactReady, b)
	return b
}

// raced makes a sandbox ready at a moment, started for demand 100 ms before.
func (w *world) raced(at time.Duration) *policies.Sandbox {
	w.at(at - 100*ms)
	b := w.start(policies.ForDemand)
	w.at(at)
	return w.ready(b)
}

// arrive asks about a request that arrives now and is the only one waiting.
func (w *world) arrive() (policies.Verdict, policies.Outcome) {
	w.f.Waiting++
	if w.f.HeadSince == policies.Never {
		w.f.HeadSince = w.now
	}
	return w.css.Blocked(w, policies.Request{Arrived: w.now})
}

// served ends the wait of the only request.
func (w *world) served(o policies.Outcome, wait time.Duration) {
	w.f.Waiting, w.f.HeadSince = 0, policies.Never
	if o != nil {
		o.Delayed(w.now, wait)
	}
}

// races says whether a request that arrives now races a start; it is served
// at once, so that it leaves no trace but the state of the switch.
func (w *world) races() bool {
	w.t.Helper()
	v, _ := w.arrive()
	w.served(nil, 0)
	if v.Bind != policies.Late {
		w.t.Fatalf("binding %v, want late", v.Bind)
	}
	return v.Start == 1
}

func (w *world) wantRace(want bool, why string) {
	w.t.Helper()
	if got := w.races(); got != want {
		w.t.Errorf("races: %v, want %v: %s", got, want, why)
	}
}

func literal() cidre.CSSConfig {
	cfg := cidre.DefaultCSS()
	cfg.Delay, cfg.Timer = cidre.Completed, false
	return cfg
}

// off brings the world to where the race was just switched off, at one
// second: T_e = 40 ms, T_p = 100 ms, T_i = 900 ms.
func off(w *world) {
	w.t.Helper()
	w.executed(40 * ms)
	b := w.raced(100 * ms)
	w.at(time.Second)
	w.fact(policies.FactUsed, b)
	w.wantRace(false, "T_i 900 ms > T_e 40 ms")
}

// delayed lets a request wait only, for a time, and be served at a moment.
func (w *world) delayed(at, wait time.Duration) {
	w.t.Helper()
	w.at(at - wait)
	v, o := w.arrive()
	if v.Start != 0 {
		w.t.Fatalf("a request at %v races", at-wait)
	}
	w.at(at)
	w.served(o, wait)
}

func TestAlgorithm1BeginsWithBSS(t *testing.T) {
	w := newWorld(t, literal())
	w.wantRace(true, "starting off, CIDRE performs BSS (3.2)")
}

func TestAlgorithm1Lines1To3(t *testing.T) {
	for _, c := range []struct {
		name string
		idle time.Duration // T_i, with T_e = 40 ms
		race bool
	}{
		{"longer", 41 * ms, false},
		{"equal is line 5", 40 * ms, true},
		{"shorter is line 5", 39 * ms, true},
		{"consumed at once", 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, literal())
			w.executed(40 * ms)
			b := w.raced(100 * ms)
			w.at(100*ms + c.idle)
			w.fact(policies.FactUsed, b)
			w.at(time.Second)
			w.wantRace(c.race, c.name)
		})
	}
}

func TestAlgorithm1Line3Stays(t *testing.T) {
	w := newWorld(t, literal())
	off(w)
	for at := 2 * time.Second; at < 6*time.Second; at += time.Second {
		w.at(at)
		w.wantRace(false, "disabled for all upcoming requests (3.2)")
	}
}

func TestAlgorithm1Line4TakesTd(t *testing.T) {
	// T_d is the wait of a request that was told to wait only; one that raced
	// has no outcome that CSS listens to.
	w := newWorld(t, literal())
	if _, o := w.arrive(); o != nil {
		t.Error("a racing request is a sample of T_d")
	}
	w.served(nil, 0)
	off(w)
	if _, o := w.arrive(); o == nil {
		t.Error("a waiting request is no sample of T_d")
	}
}

func TestAlgorithm1Lines11And12(t *testing.T) {
	for _, c := range []struct {
		name string
		wait time.Duration // T_d, with T_p = 100 ms
		race bool
	}{
		{"longer switches on", 101 * ms, true},
		{"equal is line 17", 100 * ms, false},
		{"shorter is line 17", 99 * ms, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, literal())
			off(w)
			w.delayed(2*time.Second, c.wait)
			w.at(3 * time.Second)
			w.wantRace(c.race, c.name)
		})
	}
}

func TestAlgorithm1UsesTheLastTd(t *testing.T) {
	w := newWorld(t, literal())
	off(w)
	w.delayed(2*time.Second, 300*ms)
	// The next one switches on at once, so the last one alone decides.
	w.at(2500 * ms)
	w.wantRace(true, "T_d 300 ms > T_p 100 ms")
}

func TestSection32MediansOfTheWindow(t *testing.T) {
	t.Run("T_e", func(t *testing.T) {
		w := newWorld(t, literal())
		for _, d := range []time.Duration{10 * ms, 500 * ms, 20 * ms} { // median 20, mean 177
			w.executed(d)
		}
		b := w.raced(200 * ms)
		w.at(230 * ms)
		w.fact(policies.FactUsed, b)
		w.wantRace(false, "T_i 30 ms > median 20 ms")
	})
	t.Run("T_p", func(t *testing.T) {
		w := newWorld(t, literal())
		off(w) // one sample of 100 ms
		for _, d := range []time.Duration{150 * ms, 900 * ms} {
			at := w.now.Sub(1)
			b := w.start(policies.ForPrewarm)
			w.at(at + d)
			w.ready(b)
		}
		w.delayed(5*time.Second, 149*ms) // median 150
		w.wantRace(false, "T_d 149 ms <= median 150 ms")
		w.delayed(6*time.Second, 151*ms)
		w.wantRace(true, "T_d 151 ms > median 150 ms")
	})
}

func TestSection32SlidingWindow(t *testing.T) {
	// All history has a window of 15 minutes.
	t.Run("T_e and T_i", func(t *testing.T) {
		w := newWorld(t, literal())
		w.executed(40 * ms)
		b := w.raced(100 * ms)
		w.at(time.Second)
		w.fact(policies.FactUsed, b)
		w.at(15*time.Minute + 2*time.Second)
		w.executed(40 * ms)
		w.wantRace(true, "T_i is older than the window")
	})
	t.Run("T_d", func(t *testing.T) {
		w := newWorld(t, literal())
		off(w)
		w.delayed(2*time.Second, 500*ms)
		w.at(15*time.Minute + 3*time.Second)
		w.wantRace(false, "T_d is older than the window")
	})
	t.Run("configurable", func(t *testing.T) {
		cfg := literal()
		cfg.Window = time.Second
		w := newWorld(t, cfg)
		w.executed(40 * ms)
		b := w.raced(100 * ms)
		w.at(200 * ms)
		w.fact(policies.FactUsed, b)
		w.at(1050 * ms)
		w.executed(40 * ms)
		w.at(1101 * ms)
		w.wantRace(true, "T_i is older than one second")
	})
}

func TestNewCSSRefusesNonsense(t *testing.T) {
	for _, cfg := range []cidre.CSSConfig{{}, {Window: time.Second}, {ColdPerMB: ms}, {Window: -1, ColdPerMB: ms}} {
		if _, err := cidre.NewCSS(cfg); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
}

func TestCSSReportsItsSwitch(t *testing.T) {
	w := newWorld(t, literal())
	off(w)
	w.delayed(2*time.Second, 500*ms)
	w.at(3 * time.Second)
	w.wantRace(true, "T_d")
	got := map[string]int64{}
	w.css.Report(func(name string, v int64) { got[name] = v })
	if got["css_toggles_to_off"] != 1 || got["css_toggles_to_on"] != 1 {
		t.Errorf("toggles %v, want one each way", got)
	}
}

func TestCSSDecidesWithoutAllocating(t *testing.T) {
	// The cost bound of section 3.4 is O(1) for a decision.
	w := newWorld(t, cidre.DefaultCSS())
	off(w)
	if n := testing.AllocsPerRun(100, func() { w.arrive(); w.served(nil, 0); w.recheck() }); n != 0 {
		t.Errorf("%v allocations in a decision", n)
	}
}
