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
