package cidreplus

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
	"github.com/open-lambda/open-lambda/policies/lru"
)

// busy makes a world with one function whose sandboxes have run for the given
// times, and a scaler that has seen executions of 100, 200 and 300 ms.
func busy(t *testing.T, cfg ScaleConfig, elapsed ...time.Duration) (*ExpectedWait, *world) {
	t.Helper()
	e, err := NewExpectedWait(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{now: policies.Time(10 * sec), funcs: []policies.Func{{
		FirstBusy: policies.NoSandbox, Spec: policies.Spec{MB: 100, Slots: 1}, ColdNow: 150 * ms,
	}}}
	f := &w.funcs[0]
	for i, d := range elapsed {
		id := policies.SandboxID(i)
		w.boxes = append(w.boxes, policies.Sandbox{ID: id, State: policies.Busy, BusySince: w.now.Add(-d), NextBusy: f.FirstBusy})
		f.FirstBusy = id
		f.BusyCount++
	}
	f.Live = f.BusyCount
	for _, d := range []time.Duration{100 * ms, 200 * ms, 300 * ms} {
		e.of(0).exec.Add(d)
	}
	return e, w
}

func TestExpectedWait(t *testing.T) {
	many := make([]time.Duration, 40)
	cases := []struct {
		name    string
		predict Predict
		elapsed []time.Duration
		u       int
		want    time.Duration
	}{
		{"just begun: the mean", Remaining, []time.Duration{0}, 1, 200 * ms},
		{"after 150 ms: 250 - 150", Remaining, []time.Duration{150 * ms}, 1, 100 * ms},
		{"after 250 ms: 300 - 250", Remaining, []time.Duration{250 * ms}, 1, 50 * ms},
		{"outlasted all: as long again", Remaining, []time.Duration{400 * ms}, 1, 400 * ms},
		{"the first of two", Remaining, []time.Duration{0, 250 * ms}, 1, 50 * ms},
		{"the second of two", Remaining, []time.Duration{0, 250 * ms}, 2, 200 * ms},
		{"the third: one round later", Remaining, []time.Duration{0, 250 * ms}, 3, 250 * ms},
		{"40 busy: 8 * 200 / 40", Remaining, many, 8, 40 * ms},
		{"median after 150 ms: 200 - 150", Median, []time.Duration{150 * ms}, 1, 50 * ms},
		{"median after 250 ms: 0", Median, []time.Duration{250 * ms}, 1, 0},
	}
	for _, c := range cases {
		cfg := DefaultScale()
		cfg.Predict = c.predict
		e, w := busy(t, cfg, c.elapsed...)
		if got, ok := e.wait(w, &w.funcs[0], c.u); !ok || got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestStartRule(t *testing.T) {
	cases := []struct {
		name                          string
		elapsed                       []time.Duration
		waiting, provisioning, queued int
		theta                         float64
		want                          bool
	}{
		{"nobody there", nil, 1, 0, 0, 1, true},
		{"covered by one on its way", nil, 1, 1, 0, 1, false},
		{"covered by a wish", nil, 1, 0, 1, 1, false},
		{"nobody busy, more waiting than starting", nil, 2, 1, 0, 1, true},
		{"100 ms is sooner than 150", []time.Duration{150 * ms}, 1, 0, 0, 1, false},
		{"200 ms is not", []time.Duration{0}, 1, 0, 0, 1, true},
		{"unless theta says so", []time.Duration{0}, 1, 0, 0, 1.5, false},
		{"theta 0.5: 100 ms against 75", []time.Duration{150 * ms}, 1, 0, 0, 0.5, true},
		{"the second would wait 300 ms", []time.Duration{150 * ms}, 2, 0, 0, 1, true},
		{"the second has a start", []time.Duration{150 * ms}, 2, 1, 0, 1, false},
	}
	for _, c := range cases {
		cfg := DefaultScale()
		cfg.Theta = c.theta
		e, w := busy(t, cfg, c.elapsed...)
		f := &w.funcs[0]
		f.Waiting, f.Provisioning, f.Queued = c.waiting, c.provisioning, c.queued
		if got := e.start(w, f, coldStart(&e.of(0).cold, f, ms)); got != c.want {
			t.Errorf("%s: start %v, want %v", c.name, got, c.want)
		}
	}
	e, w := busy(t, DefaultScale(), 0)
	e.funcs[0].exec.Add(0) // keep it allocated, then forget what was seen
	e.funcs[0] = history{}
	w.funcs[0].Waiting = 1
	if !e.start(w, &w.funcs[0], 150*ms) {
		t.Error("unknown executions do not race")
	}
}

// f0 has one busy sandbox, and a second one would be worth 1 * 150 ms / 100 MB
// (one arrival before this one brought it to two). f1 has an idle one that is worth 4 * 150/100.
func TestSpare(t *testing.T) {
	cases := []struct {
		name          string
		freeMB        int64
		victimLevel   int // arrivals that needed f1's sandbox
		spare         float64
		asked         bool // whether anybody before brought f0 to two
		start, cancel bool
	}{
		{"free memory", 100, 4, 1, true, true, false},
		{"free memory, but never needed", 100, 4, 1, false, false, true},
		{"a victim that is worth more", 0, 4, 1, true, false, true},
		{"a victim that is worth less", 0, 0, 1, true, true, false},
		{"five times the worth", 0, 4, 5, true, true, false},
		{"switched off", 100, 0, 0, true, false, true},
	}
	for _, c := range cases {
		cfg := DefaultScale()
		cfg.Spare = c.spare
		e, w := busy(t, cfg, 250*ms) // free in 50 ms: waiting is sooner
		m := marginal(t, time.Hour)
		e.Join(m)
		w.node.FreeMB = c.freeMB
		w.funcs = append(w.funcs, policies.Func{ID: 1, Spec: policies.Spec{MB: 100, Slots: 1}, ColdNow: 150 * ms, Live: 1, InFlight: 1})
		w.boxes = append(w.boxes, policies.Sandbox{ID: 1, Fn: 1, Born: 2, State: policies.Idle})
		for range c.victimLevel {
			m.Observe(w, policies.Fact{Kind: policies.FactArrived, Fn: 1})
		}
		m.Insert(w, 1)
		f := &w.funcs[0]
		if f.Waiting, f.InFlight = 1, 2; c.asked {
			m.Observe(w, policies.Fact{Kind: policies.FactArrived})
		}
		w.now, f.LastArrival = w.now+1, w.now+1
		m.Observe(w, policies.Fact{Kind: policies.FactArrived}) // the request itself
		if got := e.start(w, f, 150*ms); got != c.start {
			t.Errorf("%s: start %v", c.name, got)
		}
		f.Waiting, f.Provisioning, f.Live = 0, 1, 2
		if got := e.Recheck(w, 0).Cancel > 0; got != c.cancel {
			t.Errorf("%s: cancel %v", c.name, got)
		}
	}
}

func run(t *testing.T, cfg ScaleConfig, cold time.Duration, plan func(*enginetest.Harness)) string {
	t.Helper()
	e, err := NewExpectedWait(cfg)
	if err != nil {
		t.Fatal(err)
	}
	h := enginetest.New(t, engine.Config{PoolMB: 1000, Scaler: e, Evictor: &lru.LRU{}},
		enginetest.Fn{Spec: policies.Spec{MB: 100, Slots: 1, ColdEst: cold}, Cold: cold})
	plan(h)
	h.Run(time.Minute)
	return h.Transcript()
}

func wantText(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// r2 is expected to wait 100 ms and waits for longer, because r1 runs for 5 s:
// at the age of T_p = 200 ms the timer starts one.
func TestTimerBoundsTheWait(t *testing.T) {
	plan := func(h *enginetest.Harness) {
		h.Arrive(0, 0, 100*ms)
		h.Arrive(sec, 0, 5*sec)
		h.Arrive(sec, 0, 10*ms)
	}
	begin := `      0s  start f0 as s0
   200ms  run r0 on s0 cold wait 200ms
      1s  run r1 on s0 warm wait 0s
`
	wantText(t, run(t, DefaultScale(), 200*ms, plan), begin+`    1.2s  start f0 as s1
    1.4s  run r2 on s1 cold wait 400ms
`)
	cfg := DefaultScale()
	cfg.Timer = false
	wantText(t, run(t, cfg, 200*ms, plan), begin+`      6s  run r2 on s0 delayed wait 5s
`)
}

// r2 gets a start, because r1 is expected to take 1 s more; it ends sooner and
// serves r2, and the start is given up while nobody waits.
func TestCancel(t *testing.T) {
	plan := func(h *enginetest.Harness) {
		h.Arrive(0, 0, sec)
		h.Arrive(2*sec, 0, 100*ms)
		h.Arrive(2*sec, 0, 100*ms)
	}
	begin := `      0s  start f0 as s0
   500ms  run r0 on s0 cold wait 500ms
      2s  run r1 on s0 warm wait 0s
      2s  start f0 as s1
    2.1s  run r2 on s0 delayed wait 100ms
`
	wantText(t, run(t, DefaultScale(), 500*ms, plan), begin+"    2.1s  destroy s1: cancelled\n")
	cfg := DefaultScale()
	cfg.Cancel = false
	wantText(t, run(t, cfg, 500*ms, plan), begin)
}

func TestReportAndErrors(t *testing.T) {
	e, w := busy(t, DefaultScale(), 0)
	w.funcs[0].Waiting = 1
	e.Blocked(w, policies.Request{})
	got := map[string]int64{}
	e.Report(func(name string, n int64) { got[name] = n })
	if len(got) != 4 || got["wait_decided_start"] != 1 {
		t.Errorf("got %v", got)
	}
	for _, cfg := range []ScaleConfig{{Theta: -1, ColdPerMB: ms}, {Theta: 1}, {Spare: -1, ColdPerMB: ms}} {
		if _, err := NewExpectedWait(cfg); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
}
