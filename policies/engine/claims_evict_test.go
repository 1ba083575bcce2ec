package engine_test

// The claims of the CIDRE paper about eviction: Equations 1 to 4, section 3.3
// and the subroutines of Algorithm 2. Each case gives the priorities as
// computed by hand; cost in ms, size in MB. Within the first minute the
// frequency of Equation 4 is the number of requests.

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
)

const sec = time.Second

type evictCase struct {
	name   string
	preset string
	pool   int64
	fns    []enginetest.Fn
	calls  []call
	want   string // victims in order
}

func (c *evictCase) run(t *testing.T) {
	last := c.calls[len(c.calls)-1].at
	h := play(t, c.preset, c.pool, c.fns, c.calls, last+time.Minute)
	wantString(t, h, "victims", victims(h), c.want)
}

func runEvictCases(t *testing.T, cases []evictCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, c.run)
	}
}

func TestEquation1And2FaasCache(t *testing.T) {
	two := []enginetest.Fn{fn(100, 100*ms), fn(100, 180*ms), fn(100, 100*ms)}
	pair := []call{{0, 0, 10 * ms}, {0, 0, 10 * ms}, {5 * sec, 1, 10 * ms}, {10 * sec, 2, 10 * ms}}
	// f0: s0, s1, s2 with 1, 1 and 4 uses; f1: s3, s4, s5 the same.
	three := []enginetest.Fn{fn(100, 100*ms), fn(100, 110*ms), fn(200, 100*ms)}
	heavy := []call{
		{0, 0, ms},
		{0, 0, ms},
		{0, 0, ms},
		{sec, 0, ms},
		{2 * sec, 0, ms},
		{3 * sec, 0, ms},
		{5 * sec, 1, ms},
		{5 * sec, 1, ms},
		{5 * sec, 1, ms},
		{6 * sec, 1, ms},
		{7 * sec, 1, ms},
		{8 * sec, 1, ms},
		{10 * sec, 2, ms},
	}
	runEvictCases(t, []evictCase{
		{
			"cost counts", "faascache", 200,
			[]enginetest.Fn{fn(100, 300*ms), fn(100, 100*ms), fn(100, 100*ms)},
			[]call{{0, 0, ms}, {sec, 1, ms}, {5 * sec, 2, ms}},
			"s1",
		}, // f0 300/100 = 3, f1 1
		{
			"size counts", "faascache", 300,
			[]enginetest.Fn{fn(100, 200*ms), fn(200, 200*ms), fn(200, 100*ms)},
			[]call{{0, 0, ms}, {sec, 1, ms}, {5 * sec, 2, ms}},
			"s1",
		}, // f0 2, f1 1
		{
			"frequency counts", "faascache", 200,
			[]enginetest.Fn{fn(100, 100*ms), fn(100, 150*ms), fn(100, 100*ms)},
			[]call{{0, 0, ms}, {sec, 0, ms}, {2 * sec, 1, ms}, {5 * sec, 2, ms}},
			"s1",
		}, // f0 2, f1 1.5
		// Equation 1: f0 2 * 100/100 = 2, f1 1.8. Equation 2: f0 2 * 100/(100*2) = 1.
		{"concurrency is ignored by FaasCache", "faascache", 300, two, pair, "s2"},
		{"concurrency counts in FaasCache-C", "faascache-c", 300, two, pair, "s0"},
		// Equation 1: f0 6, f1 6.6, and f0 loses two. Equation 2: f0 6/3 = 2,
		// f1 2.2; with s0 gone f0 has 5/2 = 2.5, so f1 gives the second.
		{"FaasCache clusters its victims", "faascache", 600, three, heavy, "s0 s1"},
		{"FaasCache-C balances them", "faascache-c", 600, three, heavy, "s0 s3"},
		{
			"oldest of a function first", "faascache", 200, two[:2],
			[]call{{0, 0, 10 * ms}, {0, 0, 20 * ms}, {5 * sec, 1, ms}},
			"s0",
		},
		// s0 is evicted at 2 (clock 2); f2 gets 2 + 0.5 = 2.5; f1 has 2.2 and
		// goes before it, though its own term is the larger one.
		{
			"clock is the last victim's priority", "faascache", 200,
			[]enginetest.Fn{fn(100, 100*ms), fn(100, 220*ms), fn(100, 50*ms), fn(100, 100*ms)},
			[]call{{0, 0, ms}, {sec, 0, ms}, {2 * sec, 1, ms}, {5 * sec, 2, ms}, {10 * sec, 3, ms}},
			"s0 s1",
		},
	})
}

func TestEquation3Priority(t *testing.T) {
	runEvictCases(t, []evictCase{
		{
			"cost", "cip", 200,
			[]enginetest.Fn{fn(100, 300*ms), fn(100, 100*ms), fn(100, 100*ms)},
			[]call{{0, 0, ms}, {sec, 1, ms}, {5 * sec, 2, ms}},
			"s1",
		}, // f0 0 + 3, f1 0 + 1
		{
			"size", "cip", 300,
			[]enginetest.Fn{fn(100, 200*ms), fn(200, 200*ms), fn(200, 100*ms)},
			[]call{{0, 0, ms}, {sec, 1, ms}, {5 * sec, 2, ms}},
			"s1",
		}, // f0 0 + 2, f1 0 + 1
		// s0 was used twice: its clock is its priority before the second use,
		// 0 + 1, its priority 1 + 2 = 3; f1 2.5.
		{
			"frequency and clock", "cip", 200,
			[]enginetest.Fn{fn(100, 100*ms), fn(100, 250*ms), fn(100, 100*ms)},
			[]call{{0, 0, ms}, {sec, 0, ms}, {2 * sec, 1, ms}, {5 * sec, 2, ms}},
			"s1",
		},
		// f0: |F| = 2. First use of each: clock (2-1)*100/(100*2) = 0.5, then
		// priority 0.5 + 2*100/(100*2) = 1.5; f1 1.8 (FaasCache: f1 goes).
		{
			"concurrency", "cip", 300,
			[]enginetest.Fn{fn(100, 100*ms), fn(100, 180*ms), fn(100, 100*ms)},
			[]call{{0, 0, 10 * ms}, {0, 0, 10 * ms}, {5 * sec, 1, 10 * ms}, {10 * sec, 2, 10 * ms}},
			"s0",
		},
	})
}

func TestEquation4FrequencyPerMinute(t *testing.T) {
	// f0: four uses, clock 0, 1, 1+2 = 3, 3+3 = 6. Its priority is 6 + 4 in
	// the first minute, 6 + 4/20 = 6.2 after twenty; f1 has 8 in its first.
	four := []call{{0, 0, ms}, {sec, 0, ms}, {2 * sec, 0, ms}, {3 * sec, 0, ms}}
	fns := []enginetest.Fn{fn(100, 100*ms), fn(100, 800*ms), fn(100, 100*ms)}
	with := func(more ...call) []call { return append(append([]call{}, four...), more...) }
	runEvictCases(t, []evictCase{
		{"fresh", "cip", 200, fns, with(call{20 * sec, 1, ms}, call{40 * sec, 2, ms}), "s1"},
		{"decayed", "cip", 200, fns, with(call{1170 * sec, 1, ms}, call{1200 * sec, 2, ms}), "s0"},
		// n counts the whole history. s0 (6 = 3 + 3) makes way for f2, which
		// has 6 + 0.5; that one for f0, whose clock is 6.5, at its use
		// 6.5 + 3, priority 9.5 + 4 = 13.5 (7.5 if evicted uses were lost);
		// f1 has 10 and goes.
		{
			"history outlives sandboxes", "cip", 200,
			[]enginetest.Fn{fn(100, 100*ms), fn(100, 1000*ms), fn(200, 100*ms), fn(100, 100*ms)},
			[]call{{0, 0, ms}, {sec, 0, ms}, {2 * sec, 0, ms}, {10 * sec, 2, ms}, {20 * sec, 0, ms}, {21 * sec, 1, ms}, {30 * sec, 3, ms}},
			"s0 s0 s1",
		},
	})
}

func TestSection33Clock(t *testing.T) {
	runEvictCases(t, []evictCase{
		// s0 goes at 3 + 3 = 6; f2 starts with that clock: 6 + 0.5. f1 has
		// 0 + 6.2 and goes next, though its second term is much larger.
		{
			"new sandbox inherits the largest evicted priority", "cip", 200,
			[]enginetest.Fn{fn(100, 100*ms), fn(100, 620*ms), fn(100, 50*ms), fn(100, 100*ms)},
			[]call{{0, 0, ms}, {sec, 0, ms}, {2 * sec, 0, ms}, {3 * sec, 1, ms}, {10 * sec, 2, ms}, {20 * sec, 3, ms}},
			"s0 s1",
		},
		// s0 1, s1 2 are evicted for f2, whose clock is 2: 2 + 0.25. f3 takes
		// the 50 MB left, and the id s0, with clock 0: 1.9. It goes before f2 (2.25); with a
		// clock of 1 from the smaller victim f2 would have gone (1.25).
		{
			"the largest of several", "cip", 250,
			[]enginetest.Fn{fn(100, 100*ms), fn(100, 200*ms), fn(200, 50*ms), fn(50, 95*ms), fn(50, 100*ms)},
			[]call{{0, 0, ms}, {sec, 1, ms}, {5 * sec, 2, ms}, {10 * sec, 3, ms}, {20 * sec, 4, ms}},
			"s0 s1 s0",
		},
		// s0 is used by a true warm and a delayed warm start: clock 0, then
		// 0 + 1*50, then 50 + 2*50/2 = 100; priority 100 + 3*50/2 = 175. The
		// unused s1 has 75, f1 150. Without the delayed update s0 had 125.
		{
			"a delayed warm start updates it too", "cidre-bss", 300,
			[]enginetest.Fn{fn(100, 5*sec), fn(100, 15*sec), fn(200, 100*ms)},
			[]call{{0, 0, ms}, {6 * sec, 0, sec}, {6500 * ms, 0, sec}, {20 * sec, 1, ms}, {50 * sec, 2, ms}},
			"s1 s2",
		},
	})
}

func TestAlgorithm2Replace(t *testing.T) {
	small := fn(100, 100*ms)
	fns := []enginetest.Fn{small, fn(100, 180*ms), fn(200, 100*ms), small}
	runEvictCases(t, []evictCase{
		// E is the shortest prefix that fits: 300 MB of the four idle 100 MB
		// sandboxes with priorities 1, 1.2, 1.4 and 1.6.
		{
			"shortest prefix", "cip", 400,
			[]enginetest.Fn{small, fn(100, 120*ms), fn(100, 140*ms), fn(100, 160*ms), fn(300, 100*ms)},
			[]call{{0, 3, ms}, {sec, 2, ms}, {2 * sec, 1, ms}, {3 * sec, 0, ms}, {10 * sec, 4, ms}},
			"s3 s2 s1",
		},
		// f0's two have 1.5 each, f1 1.8 (see Equation 3). Both go: |F|
		// decreases when the victims of this start are chosen, not before.
		{
			"one order for all victims of a start", "cip", 300, fns,
			[]call{{0, 0, 10 * ms}, {0, 0, 10 * ms}, {5 * sec, 1, 10 * ms}, {10 * sec, 2, 10 * ms}},
			"s0 s1",
		},
		// With two starts of 100 MB, |F| is 1 at the second: f0's other one
		// has 0.5 + 2 = 2.5 by then, f1 1.8.
		{
			"|F| decreases by the evicted", "cip", 300,
			[]enginetest.Fn{small, fn(100, 180*ms), small, small},
			[]call{{0, 0, 10 * ms}, {0, 0, 10 * ms}, {5 * sec, 1, 10 * ms}, {10 * sec, 2, 10 * sec}, {12 * sec, 3, 10 * ms}},
			"s0 s2",
		},
	})
}

func TestSection33BusySandboxesAreNoVictims(t *testing.T) {
	// s0 has the lowest priority but is busy; the start takes s1. The next
	// start waits for s0's request to end.
	h := play(t, "cip", 200, []enginetest.Fn{fn(100, 10*ms), fn(100, 900*ms), fn(100, 100*ms), fn(100, 100*ms)},
		[]call{{0, 0, 10 * sec}, {0, 1, ms}, {2 * sec, 2, 20 * sec}, {3 * sec, 3, ms}}, 20*sec)
	wantLog(t, h, `
		0s     start f0 as s0
		0s     start f1 as s1
		10ms   run r0 on s0 cold wait 10ms
		900ms  run r1 on s1 cold wait 900ms
		2s     destroy s1: pressure
		2s     start f2 as s1
		2.1s   run r2 on s1 cold wait 100ms
		10.01s destroy s0: pressure
		10.01s start f3 as s0
		10.11s run r3 on s0 cold wait 7.11s`)
}
