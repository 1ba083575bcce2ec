package engine_test

// One test per claim of the CIDRE paper (ASPLOS'25) about scaling; those about
// eviction are in claims_evict_test.go, those about Algorithm 1 line by line
// in policies/cidre/css_test.go.

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
)

func TestSection23BusyReuseAgainstColdStart(t *testing.T) {
	// Figure 4: the busy sandbox is free t_q = 70 ms after R1, a new one
	// ready after t_p = 200 ms. Whoever provisions and waits loses
	// t_p - t_q = 130 ms.
	calls := []call{{0, 0, 100 * ms}, {310 * ms, 0, 100 * ms}, {340 * ms, 0, 100 * ms}}
	fns := []enginetest.Fn{fn(100, 200*ms)}
	raced := play(t, "cidre-bss", 1000, fns, calls, time.Second)
	bound := play(t, "faascache", 1000, fns, calls, time.Second)
	wantWaits(t, raced, 200*ms, 0, 70*ms)
	wantWaits(t, bound, 200*ms, 0, 200*ms)
	wantString(t, raced, "kinds", kinds(raced), "cold warm delayed")
	wantString(t, bound, "kinds", kinds(bound), "cold warm cold")
}

func TestSection23KeepAliveKnowsOnlyHitAndMiss(t *testing.T) {
	// Caching-based keep-alive has no delayed warm start, however busy the
	// function is, while memory lasts.
	calls := []call{{0, 0, 50 * ms}, {1 * ms, 0, 50 * ms}, {230 * ms, 0, 50 * ms}, {231 * ms, 0, 50 * ms}, {232 * ms, 0, 50 * ms}}
	for _, preset := range []string{"ttl", "lru", "faascache", "faascache-c", "cip"} {
		h := play(t, preset, 1000, []enginetest.Fn{fn(100, 200*ms)}, calls, time.Second)
		// s0 runs r0 from 200 to 250, s1 runs r1 from 201 to 251.
		wantString(t, h, preset, kinds(h), "cold cold cold cold cold")
	}
}

func TestSection31IdleSandboxesAreUsedFirst(t *testing.T) {
	// Step 1a of Figure 11: of three concurrent requests two find idle
	// sandboxes and the third alone is given to the scaler.
	h := play(t, "cidre-bss", 1000, []enginetest.Fn{fn(100, 200*ms)}, []call{
		{0, 0, 10 * ms},
		{0, 0, 10 * ms},
		{time.Second, 0, 300 * ms},
		{time.Second, 0, 300 * ms},
		{time.Second, 0, 300 * ms},
	}, 3*time.Second)
	wantString(t, h, "kinds", kinds(h), "cold cold warm warm cold")
	if n := starts(h); n != 3 {
		t.Errorf("%d starts, want 3", n)
	}
}

func TestSection31Figure11TwoDelayedOneCold(t *testing.T) {
	// Three busy sandboxes; Req2 to Req4 arrive. The first two busy ones are
	// free before the cold starts are done, the third is not: Req2 and Req3
	// are delayed warm starts, Req4 is a cold start.
	h := play(t, "cidre-bss", 10000, []enginetest.Fn{fn(100, 200*ms)}, []call{
		{0, 0, 10 * ms},
		{0, 0, 10 * ms},
		{0, 0, 10 * ms},
		{time.Second, 0, 100 * ms},
		{time.Second, 0, 150 * ms},
		{time.Second, 0, 900 * ms},
		{1010 * ms, 0, 500 * ms},
		{1010 * ms, 0, 500 * ms},
		{1010 * ms, 0, 500 * ms},
	}, 3*time.Second)
	wantString(t, h, "kinds", kinds(h), "cold cold cold warm warm warm delayed delayed cold")
	wantWaits(t, h, 200*ms, 200*ms, 200*ms, 0, 0, 0, 90*ms, 140*ms, 200*ms)
}

func TestSection31QueueIsFIFOAndWorkConserving(t *testing.T) {
	// One busy sandbox, long starts: the waiting requests are served by it in
	// the order of arrival, each at the very moment when it comes free.
	h := play(t, "cidre-bss", 10000, []enginetest.Fn{fn(100, 5*time.Second)}, []call{
		{0, 0, ms},
		{6 * time.Second, 0, 100 * ms},
		{6010 * ms, 0, 100 * ms},
		{6020 * ms, 0, 100 * ms},
		{6030 * ms, 0, 100 * ms},
	}, 20*time.Second)
	wantString(t, h, "kinds", kinds(h), "cold warm delayed delayed delayed")
	wantWaits(t, h, 5*time.Second, 0, 90*ms, 180*ms, 270*ms)
}

func TestSection32BSSAlwaysRacesAStart(t *testing.T) {
	// One start for every request in Case II; none is given up when its
	// request is served by a busy sandbox: all become idle.
	h := play(t, "cidre-bss", 10000, []enginetest.Fn{fn(100, 200*ms)}, []call{
		{0, 0, 10 * ms}, {time.Second, 0, 20 * ms}, {1001 * ms, 0, 20 * ms}, {1002 * ms, 0, 20 * ms},
	}, 3*time.Second)
	if f := view(h, 0); starts(h) != 3 || f.IdleCount != 3 {
		t.Errorf("%d starts, %d idle, want 3 and 3\n%s", starts(h), f.IdleCount, h.Transcript())
	}
	wantString(t, h, "kinds", kinds(h), "cold warm delayed delayed")
}

func TestSection32BSSGuarantee(t *testing.T) {
	// No request waits longer than a cold start, whatever the arrivals and
	// execution times are, while memory suffices.
	const cold = 200 * ms
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 32))
		h := enginetest.New(t, config(t, "cidre-bss", 1<<40), fn(100, cold), fn(300, cold))
		at := time.Duration(0)
		for range 400 {
			at += time.Duration(r.ExpFloat64() * float64(15*ms))
			h.Arrive(at, 0, time.Duration(r.ExpFloat64()*float64(150*ms)))
			if r.IntN(10) == 0 {
				h.Arrive(at, 1, time.Duration(r.ExpFloat64()*float64(500*ms)))
			}
		}
		h.Run(at + 10*time.Second)
		for id, q := range h.Results {
			if !q.Served || q.Wait > cold {
				t.Fatalf("seed %d: request %d waited %v, served %v", seed, id, q.Wait, q.Served)
			}
		}
	}
}

func TestSection32BSSMayWasteItsStarts(t *testing.T) {
	// The drawback that CSS is made for: r2 is served by the busy sandbox,
	// the start made for it is never used and the first to be
	// evicted. Priorities at 4 s: s2 0 + 3*200/(100*2) = 3; s1 has the clocks
	// 0, 0 + 1*200/100 = 2, 2 + 2*200/200 = 4, so 4 + 3 = 7; s0 5 + 10 = 15.
	h := play(t, "cidre-bss", 300, []enginetest.Fn{fn(100, 200*ms), fn(100, 500*ms), fn(200, 100*ms)}, []call{
		{0, 1, 10 * ms},  // s0
		{ms, 0, 10 * ms}, // s1
		{time.Second, 1, 10 * ms},
		{2 * time.Second, 0, 20 * ms},
		{2001 * ms, 0, 20 * ms},       // s2, unused
		{4 * time.Second, 2, 10 * ms}, // needs two
	}, 6*time.Second)
	wantString(t, h, "kinds", kinds(h), "cold cold warm warm delayed cold")
	wantString(t, h, "victims", victims(h), "s2 s1")
}

func TestSection32CSSStopsAndResumes(t *testing.T) {
	// The story of section 3.2 through the engine. f0: 100 ms cold, executions
	// of 40 ms. A start that idles longer than T_e switches the race off; a
	// delayed wait longer than T_p switches it on again.
	h := enginetest.New(t, config(t, "cidre-literal", 10000), fn(100, 100*ms))
	h.Arrive(0, 0, 40*ms)           // r0: cold on s0, done at 140
	h.Arrive(200*ms, 0, 40*ms)      // r1: warm
	h.Arrive(210*ms, 0, 40*ms)      // r2: race; delayed at 240; s1 ready at 310, idle
	h.Arrive(time.Second, 0, 40*ms) // r3, r4: warm; s1 is reused after 690 ms > 40 ms
	h.Arrive(time.Second, 0, 40*ms) //
	h.Arrive(1010*ms, 0, 400*ms)    // r5: T_i > T_e: wait only; delayed at 1040
	h.Arrive(1045*ms, 0, 400*ms)    // r6: warm
	h.Arrive(1050*ms, 0, 40*ms)     // r7: T_d = 30 <= 100: wait only; until 1440: 390 ms
	h.Arrive(1500*ms, 0, 300*ms)    // r8: warm
	h.Arrive(1500*ms, 0, 300*ms)    // r9: warm
	h.Arrive(1510*ms, 0, 40*ms)     // r10: T_d = 390 > 100: race; cold at 1610
	h.Run(3 * time.Second)
	wantString(t, h, "kinds", kinds(h), "cold warm delayed warm warm delayed warm delayed warm warm cold")
	wantWaits(t, h, 100*ms, 0, 30*ms, 0, 0, 30*ms, 0, 390*ms, 0, 0, 100*ms)
	if n := starts(h); n != 3 {
		t.Errorf("%d starts, want 3: r0, r2 and r10\n%s", n, h.Transcript())
	}
}

func TestSection34CaseI(t *testing.T) {
	// An idle warm sandbox is found: no wait, no scaler, no start.
	for _, preset := range []string{"cidre", "cidre-bss", "cidre-literal", "cip", "ttl"} {
		h := play(t, preset, 1000, []enginetest.Fn{fn(100, 200*ms)}, []call{{0, 0, 10 * ms}, {time.Second, 0, 10 * ms}}, 2*time.Second)
		wantString(t, h, preset, kinds(h), "cold warm")
		if starts(h) != 1 {
			t.Errorf("%s: %d starts", preset, starts(h))
		}
	}
}

func TestSection34CaseII(t *testing.T) {
	// None is available: Algorithm 1 decides, REPLACE makes room, and the
	// busy sandbox of the same function is no victim.
	h := play(t, "cidre", 200, []enginetest.Fn{fn(100, 200*ms), fn(100, 50*ms)}, []call{
		{0, 1, 10 * ms}, {0, 0, 10 * ms}, {time.Second, 0, 5 * time.Second}, {1010 * ms, 0, 10 * ms},
	}, 3*time.Second)
	wantString(t, h, "kinds", kinds(h), "cold cold warm cold")
	wantString(t, h, "victims", victims(h), "s0")
}
