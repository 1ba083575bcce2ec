package engine_test

// Gaps of the paper that concern memory, eviction and threads; see gaps_test.go.

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
)

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
