package engine_test

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
)

// bounded is a function of 100 MB with a minimum and a maximum of sandboxes.
func bounded(minimum, maximum int) enginetest.Fn {
	f := fn(100, 100*ms)
	f.Spec.Min, f.Spec.Max = minimum, maximum
	return f
}

func TestMinSandboxes(t *testing.T) {
	t.Run("started when defined, first use is warm", func(t *testing.T) {
		h := play(t, "cidre", 1000, []enginetest.Fn{bounded(2, 0)}, []call{{sec, 0, ms}, {sec, 0, ms}}, 2*sec)
		wantString(t, h, "kinds", kinds(h), "warm warm")
		if starts(h) != 2 {
			t.Errorf("%d starts, want 2", starts(h))
		}
	})
	t.Run("first use by one who waited is delayed, not cold", func(t *testing.T) {
		h := play(t, "cidre-bss", 1000, []enginetest.Fn{bounded(1, 0)}, []call{{50 * ms, 0, ms}}, 2*sec)
		wantString(t, h, "kinds", kinds(h), "delayed")
		wantWaits(t, h, 50*ms)
	})
	t.Run("never evicted", func(t *testing.T) {
		h := play(t, "lru", 200, []enginetest.Fn{bounded(1, 0), fn(200, ms), fn(100, ms), fn(100, ms)},
			[]call{{sec, 1, ms}, {2 * sec, 2, ms}, {3 * sec, 3, ms}}, 5*sec)
		wantString(t, h, "kinds", kinds(h), "- cold cold")
		wantString(t, h, "victims", victims(h), "s1")
		if why := h.Results[0].Rejected; why != engine.ReasonTooLarge {
			t.Errorf("what never fits beside the pinned is rejected: %v", why)
		}
	})
	t.Run("never expired", func(t *testing.T) {
		h := play(t, "ttl", 200, []enginetest.Fn{bounded(1, 0)}, nil, time.Hour)
		wantString(t, h, "victims", victims(h), "")
	})
	t.Run("replaced when one dies", func(t *testing.T) {
		h := enginetest.New(t, config(t, "cidre", 1000), bounded(1, 0))
		h.Plan(sec, engine.Event{Kind: engine.EvDied, Sandbox: 0})
		h.Run(2 * sec)
		if f := view(h, 0); f.IdleCount != 1 || starts(h) != 2 {
			t.Errorf("%d idle after %d starts\n%s", f.IdleCount, starts(h), h.Transcript())
		}
	})
	t.Run("pins half of the pool at most", func(t *testing.T) {
		h := play(t, "lru", 1000, []enginetest.Fn{bounded(9, 0), fn(500, ms)}, []call{{sec, 1, ms}}, 2*sec)
		wantString(t, h, "kinds", kinds(h), "cold")
		if mb := h.E.Snapshot().PinnedMB; mb != 500 {
			t.Errorf("%d MB pinned, want 500", mb)
		}
	})
	t.Run("a lower minimum lets them go", func(t *testing.T) {
		h := enginetest.New(t, config(t, "lru", 200), bounded(2, 0), fn(200, ms))
		f := bounded(0, 0)
		h.Plan(sec, engine.Event{Kind: engine.EvDefine, Fn: 0, Spec: f.Spec})
		h.Arrive(2*sec, 1, ms)
		h.Run(3 * sec)
		wantString(t, h, "kinds", kinds(h), "cold")
	})
	t.Run("failing starts are repeated with back-off", func(t *testing.T) {
		f := bounded(1, 0)
		f.Fail = func(n int) (engine.Fault, bool) { return engine.FaultLambda, n <= 3 }
		h := drive(t, config(t, "cidre", 1000), []enginetest.Fn{f}, nil, 10*sec)
		wantLog(t, h, `
			0s    start f0 as s0
			200ms start f0 as s0
			500ms start f0 as s0
			1s    start f0 as s0`)
	})
}

func TestMaxSandboxes(t *testing.T) {
	burst := []call{{0, 0, sec}, {0, 0, sec}, {0, 0, sec}, {0, 0, sec}, {0, 0, sec}}
	for _, preset := range []string{"cidre", "cidre-bss", "ttl", "faascache"} {
		t.Run(preset, func(t *testing.T) {
			h := play(t, preset, 10000, []enginetest.Fn{bounded(0, 2)}, burst, 10*sec)
			wantWaits(t, h, 100*ms, 100*ms, 1100*ms, 1100*ms, 2100*ms)
			if starts(h) != 2 {
				t.Errorf("%d starts, want 2", starts(h))
			}
		})
	}
	t.Run("queued starts are included", func(t *testing.T) {
		h := play(t, "ttl", 100, []enginetest.Fn{bounded(0, 2)}, burst, 300*ms)
		if f := view(h, 0); f.Queued != 1 || f.Live != 1 {
			t.Errorf("%d queued and %d live of at most 2", f.Queued, f.Live)
		}
	})
	t.Run("oldest first, bound to a start or not", func(t *testing.T) {
		// r1 is bound to a start that lacks memory, r2 and r3 to none: the
		// function has its two. The sandbox that comes free serves r1 first.
		h := play(t, "ttl", 100, []enginetest.Fn{bounded(0, 2)}, burst[:4], 10*sec)
		wantWaits(t, h, 100*ms, 1100*ms, 2100*ms, 3100*ms)
		wantString(t, h, "kinds", kinds(h), "cold delayed/blocked delayed delayed")
	})
	t.Run("minimum and maximum together", func(t *testing.T) {
		h := play(t, "cidre", 1000, []enginetest.Fn{bounded(2, 2)}, []call{{sec, 0, sec}, {sec, 0, sec}, {sec, 0, ms}}, 5*sec)
		wantString(t, h, "kinds", kinds(h), "warm warm delayed")
		if starts(h) != 2 {
			t.Errorf("%d starts, want 2", starts(h))
		}
	})
}
