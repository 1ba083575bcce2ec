package engine_test

// Where the text of the CIDRE paper is silent, the project decides. One test
// for each decision, as it shows through the engine; those that are CSS's
// alone are also in policies/cidre/cssgaps_test.go.

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/cidre"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
)

// switchOff plans requests after which function 0 (cold start 100 ms) has two
// idle sandboxes and its race is off: a start made by a race idled for 690 ms
// where executions take 40 ms. It ends before two seconds.
func switchOff(h *enginetest.Harness) {
	for _, at := range []time.Duration{0, 200 * ms, 210 * ms, sec, sec, 1010 * ms} {
		h.Arrive(at, 0, 40*ms)
	}
}

const switchOffRequests = 6

func TestGapLongWaitIsNoticed(t *testing.T) {
	// Two executions of 10 s keep both sandboxes; r8 waits and nobody else
	// arrives, then r9 does.
	run := func(cfg engine.Config) *enginetest.Harness {
		h := enginetest.New(t, cfg, fn(100, 100*ms))
		switchOff(h)
		h.Arrive(2*sec, 0, 10*sec)
		h.Arrive(2*sec, 0, 10*sec)
		h.Arrive(2100*ms, 0, 40*ms)
		h.Arrive(2500*ms, 0, 40*ms)
		h.Run(20 * sec)
		return h
	}
	tail := func(h *enginetest.Harness) [2]time.Duration {
		return [2]time.Duration(waits(h)[switchOffRequests+2:])
	}
	for _, c := range []struct {
		name string
		cfg  engine.Config
		want [2]time.Duration
	}{
		{"timer at head arrival plus T_p bounds the wait by two T_p", config(t, "cidre", 1000), [2]time.Duration{200 * ms, 0}},
		{"age of the head counts when the next one arrives", withCSS(t, cidre.HeadAge, false), [2]time.Duration{500 * ms, 140 * ms}},
		{"literally, both wait for a busy one", config(t, "cidre-literal", 1000), [2]time.Duration{9900 * ms, 9500 * ms}},
		{"td=completed with the timer", withCSS(t, cidre.Completed, true), [2]time.Duration{200 * ms, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := run(c.cfg)
			if got := tail(h); got != c.want {
				t.Errorf("waits %v, want %v\n%s", got, c.want, h.Transcript())
			}
		})
	}
}

func withCSS(t *testing.T, d cidre.Delay, timer bool) engine.Config {
	t.Helper()
	set := cidre.DefaultCSS()
	set.Delay, set.Timer = d, timer
	css, err := cidre.NewCSS(set)
	if err != nil {
		t.Fatal(err)
	}
	return engine.Config{PoolMB: 1000, Scaler: css, Evictor: cidre.NewCIP(cidre.CIPConfig{})}
}

func TestGapTimerStartsForAllWhoWait(t *testing.T) {
	// When the head has waited T_p, starts are issued until as many are on
	// their way as requests wait: three here, though one arrived just before.
	h := enginetest.New(t, config(t, "cidre", 1000), fn(100, 100*ms))
	switchOff(h)
	for range 2 {
		h.Arrive(2*sec, 0, 10*sec)
	}
	for _, at := range []time.Duration{2100 * ms, 2150 * ms, 2199 * ms} {
		h.Arrive(at, 0, 5*sec)
	}
	h.Run(4 * sec)
	got := [3]time.Duration(waits(h)[switchOffRequests+2:])
	if want := [3]time.Duration{200 * ms, 150 * ms, 101 * ms}; got != want {
		t.Errorf("waits %v, want %v\n%s", got, want, h.Transcript())
	}
}

func TestGapPrewarmedSandboxesAreNoSampleOfTi(t *testing.T) {
	// The pre-warmed sandboxes of min_sandboxes idle for a second before
	// their first use, which must not switch the race off.
	f := fn(100, 100*ms)
	f.Spec.Min = 2
	h := drive(t, config(t, "cidre", 1000), []enginetest.Fn{f},
		[]call{{sec, 0, 40 * ms}, {2 * sec, 0, sec}, {2 * sec, 0, sec}, {2 * sec, 0, sec}}, 5*sec)
	wantString(t, h, "kinds", kinds(h), "warm warm warm cold")
}

func TestGapMostRecentlyUsedFirst(t *testing.T) {
	// Of two available sandboxes the one used last is taken each time, so
	// that the other one ages.
	h := play(t, "cidre-bss", 1000, []enginetest.Fn{fn(100, 100*ms)}, []call{
		{0, 0, 10 * ms}, {0, 0, 30 * ms}, // s1 ends last
		{sec, 0, 10 * ms}, {2 * sec, 0, 10 * ms}, {3 * sec, 0, 10 * ms},
	}, 4*sec)
	for id, r := range h.Results[2:] {
		if r.Sandbox != 1 {
			t.Errorf("request %d runs on s%d, want s1\n%s", id+2, r.Sandbox, h.Transcript())
		}
	}
}

func TestGapEvictedUnusedIsWasteful(t *testing.T) {
	// r2's start becomes ready at 3.11 s and is evicted unused at 3.12 s,
	// after 10 ms, less than T_e = 40 ms: r5 does not race all the same, and
	// waits for the sandbox that is busy.
	h := play(t, "cidre", 300, []enginetest.Fn{fn(100, 100*ms), fn(200, 10*ms)}, []call{
		{0, 0, 40 * ms},
		{3 * sec, 0, 40 * ms},
		{3010 * ms, 0, 90 * ms},
		{3120 * ms, 1, ms}, // evicts s1 (200 MB: s1 is idle, 100 MB are free)
		{4 * sec, 0, 40 * ms},
		{4010 * ms, 0, 40 * ms},
	}, 6*sec)
	wantString(t, h, "kinds", kinds(h), "cold warm delayed cold warm delayed")
	wantString(t, h, "victims", victims(h), "s1")
	if f := view(h, 0); f.Live != 1 {
		t.Errorf("%d sandboxes, want 1: r5 raced\n%s", f.Live, h.Transcript())
	}
}

func TestGapTpBeforeSamples(t *testing.T) {
	// With the race off and no cold start seen, T_p is the specification's
	// estimate, the driver's estimate, or memory times 1.7 ms.
	for _, c := range []struct {
		name         string
		spec, driver time.Duration
		want         policies.Time
	}{
		{"from the specification", 300 * ms, 0, 300e6},
		{"from the driver's estimate", 300 * ms, 80 * ms, 80e6},
		{"from the memory model", 0, 0, 170e6},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := fn(100, 10*sec)
			f.Spec.ColdEst = c.spec
			h := enginetest.New(t, config(t, "cidre", 1000), f)
			if c.driver != 0 {
				h.Step(engine.Event{Kind: engine.EvEstimate, Fn: 0, Dur: c.driver})
			}
			h.Arrive(0, 0, ms)
			h.Run(0)
			if at, ok := h.E.NextTimer(); !ok || at != 1+c.want {
				t.Errorf("timer at %d, want %d", at-1, c.want)
			}
		})
	}
}

func TestGapNoSandboxWithTheRaceOff(t *testing.T) {
	// f0's sandboxes are evicted while its race is off; the next request gets
	// a start, because nobody could serve it otherwise.
	h := enginetest.New(t, config(t, "cidre-literal", 200), fn(100, 100*ms), fn(200, 10*ms))
	switchOff(h)
	h.Arrive(2*sec, 1, ms)
	h.Arrive(3*sec, 0, 40*ms)
	h.Run(5 * sec)
	r := h.Results[switchOffRequests+1]
	if !r.Served || r.Kind != policies.Cold || r.Wait != 100*ms {
		t.Errorf("%+v, want a cold start of 100 ms\n%s", r, h.Transcript())
	}
}

func TestGapSeveralWaitSeveralStart(t *testing.T) {
	// No binding: the start made for r1 (40 ms) serves r0, which waits
	// longer; r0's own start (200 ms, the first) serves r1.
	h := enginetest.New(t, config(t, "cidre-bss", 1000), fn(100, 200*ms))
	h.Arrive(0, 0, sec)
	h.Arrive(10*ms, 0, sec)
	h.ReadyAt(40*ms, 1)
	h.Run(3 * sec)
	wantLog(t, h, `
		0s    start f0 as s0
		10ms  start f0 as s1
		40ms  run r0 on s1 cold wait 40ms
		200ms run r1 on s0 cold wait 190ms`)
}

func TestGapProvisioningCountsAndIsNoVictim(t *testing.T) {
	// At 50 s f0 has s1 idle and s2 being provisioned (100 MB each, cold
	// start 10 s, cost 100 a MB). s1's clock: 0, 1*100 = 100, then with
	// |F| = 2 100 + 2*100/2 = 200; its priority 200 + 3*100/2 = 350, so it
	// goes before f1's s0 with 400. Were s2 not counted, s1 had 600.
	h := play(t, "cidre-bss", 300, []enginetest.Fn{fn(100, 10*sec), fn(100, 40*sec), fn(100, 100*ms), fn(200, 100*ms)}, []call{
		{0, 1, ms},
		{sec, 0, ms},
		{45 * sec, 0, 500 * ms},
		{45100 * ms, 0, 500 * ms},
		{50 * sec, 2, 20 * sec},
		{52 * sec, 3, ms}, // needs s0 and s2; s2 is not to be had before it is ready
	}, 58*sec)
	wantString(t, h, "victims", victims(h), "s1 s2 s0")
	if w := h.Results[5].Wait; w != 55100*ms+100*ms-52*sec {
		t.Errorf("r5 waited %v\n%s", w, h.Transcript())
	}
}

func TestGapAllMemoryBusy(t *testing.T) {
	one, two := fn(100, 100*ms), fn(200, 100*ms)
	t.Run("starts wait in one FIFO over all functions", func(t *testing.T) {
		h := play(t, "cidre-bss", 200, []enginetest.Fn{one, one, two, one}, []call{
			{0, 0, 2 * sec}, {0, 1, 3 * sec}, {sec, 2, sec}, {1100 * ms, 3, ms},
		}, 10*sec)
		// r2 wants 200 MB: what s0 frees at 2.1 s is kept for it until s1 is
		// free at 3.1 s; r3 would have fitted and comes after it.
		wantWaits(t, h, 100*ms, 100*ms, 2200*ms, 3200*ms)
	})
	t.Run("dropped when its demand is gone", func(t *testing.T) {
		h := play(t, "cidre-bss", 100, []enginetest.Fn{one}, []call{{0, 0, sec}, {500 * ms, 0, ms}}, 3*sec)
		wantString(t, h, "kinds", kinds(h), "cold delayed")
		if n := h.E.Snapshot().Node.QueuedStarts; n != 0 || starts(h) != 1 {
			t.Errorf("%d starts queued, %d made", n, starts(h))
		}
	})
	t.Run("busy sandboxes are never killed", func(t *testing.T) {
		h := play(t, "cidre", 100, []enginetest.Fn{one, one}, []call{{0, 0, time.Minute}, {0, 1, ms}}, 30*sec)
		wantString(t, h, "victims", victims(h), "")
		wantString(t, h, "kinds", kinds(h), "cold -")
	})
	t.Run("larger than the node is rejected", func(t *testing.T) {
		h := play(t, "cidre", 100, []enginetest.Fn{fn(101, ms), one}, []call{{0, 0, ms}, {0, 1, ms}}, sec)
		wantString(t, h, "kinds", kinds(h), "- cold")
		if why := h.Results[0].Rejected; why != engine.ReasonTooLarge {
			t.Errorf("rejected: %v", why)
		}
	})
}

func TestGapThreads(t *testing.T) {
	// Figure 21: a sandbox with N threads serves N requests at once.
	threads := func(n int) enginetest.Fn { f := fn(100, 200*ms); f.Spec.Slots = n; return f }
	t.Run("available means a free slot", func(t *testing.T) {
		h := play(t, "cidre-bss", 1000, []enginetest.Fn{threads(3)}, []call{
			{0, 0, ms}, {sec, 0, 100 * ms}, {1010 * ms, 0, 100 * ms}, {1020 * ms, 0, 100 * ms}, {1030 * ms, 0, 100 * ms},
		}, 3*sec)
		wantString(t, h, "kinds", kinds(h), "cold warm warm warm delayed")
		wantWaits(t, h, 200*ms, 0, 0, 0, 70*ms)
	})
	t.Run("idle means no request in it", func(t *testing.T) {
		h := play(t, "cip", 100, []enginetest.Fn{threads(2), fn(100, ms)}, []call{
			{0, 0, 500 * ms}, {sec, 0, 100 * ms}, {1010 * ms, 0, 500 * ms}, {1200 * ms, 1, ms},
		}, 3*sec)
		wantString(t, h, "kinds", kinds(h), "cold warm warm cold")
		wantWaits(t, h, 200*ms, 0, 0, 311*ms) // f1 has to wait until 1.51 s
	})
	t.Run("a ready sandbox serves as many as it has slots", func(t *testing.T) {
		h := play(t, "cidre-bss", 1000, []enginetest.Fn{threads(2)}, []call{{0, 0, sec}, {50 * ms, 0, sec}, {100 * ms, 0, sec}}, 3*sec)
		wantString(t, h, "kinds", kinds(h), "cold delayed cold")
		wantWaits(t, h, 200*ms, 150*ms, 150*ms)
	})
}

func TestGapFrequencyInTheFirstMinute(t *testing.T) {
	// Minutes count as at least 1. After 3 s f0's two requests would be 40 a
	// minute: 0 + 1*20 + 40 = 60 against f1's 10; as 2 a minute its priority
	// is 1 + 2 = 3.
	h := play(t, "cip", 200, []enginetest.Fn{fn(100, 100*ms), fn(100, sec), fn(100, ms)},
		[]call{{0, 0, ms}, {sec, 0, ms}, {sec, 1, ms}, {3 * sec, 2, ms}}, 5*sec)
	wantString(t, h, "victims", victims(h), "s0")
}

func TestGapClockInflated(t *testing.T) {
	// s0 goes at priority 3; f2 takes over 3 + 0.5. Then f3 starts in the
	// 100 MB that were free all the time: its clock is 0, or with
	// clock=inflated 3, the priority of the last victim. f3's own term is 1.
	for _, c := range []struct{ clock, want string }{{"zero", "s0 s1"}, {"inflated", "s0 s0"}} {
		t.Run(c.clock, func(t *testing.T) {
			p, err := catalog.New("cip", "", "", catalog.Params{Clock: c.clock})
			if err != nil {
				t.Fatal(err)
			}
			h := drive(t, engine.Config{PoolMB: 300, Scaler: p.Scaler, Evictor: p.Evictor},
				[]enginetest.Fn{fn(200, 600*ms), fn(200, 100*ms), fn(200, 100*ms), fn(100, 100*ms), fn(100, 100*ms)},
				[]call{{0, 0, ms}, {5 * sec, 2, ms}, {10 * sec, 3, ms}, {20 * sec, 4, ms}}, 30*sec)
			wantString(t, h, "victims", victims(h), c.want)
		})
	}
}

func TestGapEvictorsOfTheAblation(t *testing.T) {
	// Figure 15 takes the parts alone: BSS and CSS over FaasCache, CIP with
	// requests bound to their starts.
	for preset, want := range map[string][2]string{
		"bss": {"bss", "faascache"}, "css": {"css", "faascache"}, "cip": {"coldstart", "cip"},
		"cidre-bss": {"bss", "cip"}, "cidre": {"css", "cip"}, "cidre-literal": {"css-literal", "cip"},
	} {
		for _, e := range catalog.Entries() {
			if e.Kind == "preset" && e.Name == preset && want != [2]string{e.Scaler, e.Evictor} {
				t.Errorf("%s is %s with %s, want %v", preset, e.Scaler, e.Evictor, want)
			}
		}
	}
	h := play(t, "cip", 1000, []enginetest.Fn{fn(100, 200*ms)}, []call{{0, 0, 50 * ms}, {10 * ms, 0, 50 * ms}}, sec)
	wantWaits(t, h, 200*ms, 200*ms) // bound: r1 does not take s0 before its own
}
