package engine_test

// The rules of the engine about failed starts and sandboxes that die.

import (
	"slices"
	"testing"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
)

// failing is a function whose starts fail while bad says so.
func failing(fault engine.Fault, bad func(n int) bool) enginetest.Fn {
	f := fn(100, 10*ms)
	f.Fail = func(n int) (engine.Fault, bool) { return fault, bad(n) }
	return f
}

func always(int) bool { return true }

// rejections lists why each request was rejected.
func rejections(h *enginetest.Harness) []engine.Reason {
	var out []engine.Reason
	for _, r := range h.Results {
		out = append(out, r.Rejected)
	}
	return out
}

func wantRejections(t *testing.T, h *enginetest.Harness, want ...engine.Reason) {
	t.Helper()
	if got := rejections(h); !slices.Equal(got, want) {
		t.Errorf("rejections %v, want %v\n%s", got, want, h.Transcript())
	}
}

func TestHostFaultIsRetriedWithBackOff(t *testing.T) {
	for _, preset := range []string{"cidre", "cidre-bss", "ttl"} {
		t.Run(preset+" gives up after three retries", func(t *testing.T) {
			h := play(t, preset, 1000, []enginetest.Fn{failing(engine.FaultHost, always)}, []call{{0, 0, ms}}, 5*sec)
			wantLog(t, h, `
				0s    start f0 as s0
				110ms start f0 as s0
				320ms start f0 as s0
				730ms start f0 as s0
				740ms reject r0 after 740ms: host failed`)
		})
		t.Run(preset+" serves when a retry succeeds", func(t *testing.T) {
			h := play(t, preset, 1000, []enginetest.Fn{failing(engine.FaultHost, func(n int) bool { return n < 3 })}, []call{{0, 0, ms}}, 5*sec)
			wantWaits(t, h, 330*ms)
			wantString(t, h, "kinds", kinds(h), "cold")
		})
	}
	t.Run("others pass it during the back-off", func(t *testing.T) {
		h := play(t, "ttl", 100, []enginetest.Fn{failing(engine.FaultHost, func(n int) bool { return n < 2 }), fn(100, 10*ms)},
			[]call{{0, 0, ms}, {20 * ms, 1, ms}}, sec)
		wantWaits(t, h, 120*ms, 10*ms)
	})
	t.Run("given up with its demand", func(t *testing.T) {
		h := enginetest.New(t, config(t, "cidre-bss", 1000), failing(engine.FaultHost, always))
		h.Cancel(50*ms, h.Arrive(0, 0, ms))
		h.Run(5 * sec)
		if starts(h) != 1 {
			t.Errorf("%d starts\n%s", starts(h), h.Transcript())
		}
	})
	t.Run("configurable", func(t *testing.T) {
		cfg := config(t, "ttl", 1000)
		cfg.Retries, cfg.RetryBase = 1, sec
		h := drive(t, cfg, []enginetest.Fn{failing(engine.FaultHost, always)}, []call{{0, 0, ms}}, 5*sec)
		wantLog(t, h, `
			0s    start f0 as s0
			1.01s start f0 as s0
			1.02s reject r0 after 1.02s: host failed`)
	})
}

func TestLambdaFault(t *testing.T) {
	lambda, none := engine.ReasonLambda, engine.ReasonNone
	bad := failing(engine.FaultLambda, always)
	first := failing(engine.FaultLambda, func(n int) bool { return n == 1 })
	later := failing(engine.FaultLambda, func(n int) bool { return n > 1 })
	three := []call{{0, 0, ms}, {0, 0, ms}, {0, 0, ms}}
	t.Run("all waiting without cover get it", func(t *testing.T) {
		h := play(t, "cidre-bss", 100, []enginetest.Fn{bad}, three, sec)
		wantRejections(t, h, lambda, lambda, lambda)
		if starts(h) != 1 {
			t.Errorf("%d starts, want 1: memory is for one", starts(h))
		}
	})
	t.Run("one under a policy that binds", func(t *testing.T) {
		h := play(t, "ttl", 1000, []enginetest.Fn{first}, three, sec)
		wantRejections(t, h, lambda, none, none)
	})
	t.Run("all that are bound and lack memory get it", func(t *testing.T) {
		h := play(t, "ttl", 100, []enginetest.Fn{bad}, three, sec)
		wantRejections(t, h, lambda, lambda, lambda)
		if starts(h) != 1 {
			t.Errorf("%d starts, want 1", starts(h))
		}
	})
	t.Run("those covered by other starts wait on", func(t *testing.T) {
		h := play(t, "cidre-bss", 1000, []enginetest.Fn{first}, three, sec)
		wantRejections(t, h, none, none, lambda) // the newest goes: two starts are left
	})
	t.Run("a busy sandbox covers all", func(t *testing.T) {
		h := play(t, "cidre-bss", 1000, []enginetest.Fn{later}, []call{{0, 0, sec}, {100 * ms, 0, ms}, {200 * ms, 0, ms}}, 5*sec)
		wantString(t, h, "kinds", kinds(h), "cold delayed delayed")
	})
	t.Run("a start of min_sandboxes tells as well", func(t *testing.T) {
		f := bad
		f.Spec.Min = 1
		h := play(t, "cidre-bss", 200, []enginetest.Fn{f, fn(100, ms)}, []call{{0, 1, sec}, {5 * ms, 0, ms}}, 50*ms)
		wantRejections(t, h, none, lambda)
		if w := h.Results[1].Wait; w != 5*ms {
			t.Errorf("told after %v\n%s", w, h.Transcript())
		}
	})
}

func TestSandboxThatDied(t *testing.T) {
	died := func(id policies.SandboxID) engine.Event { return engine.Event{Kind: engine.EvDied, Sandbox: id} }
	t.Run("idle", func(t *testing.T) {
		h := enginetest.New(t, config(t, "cidre", 1000), fn(100, 100*ms))
		h.Arrive(0, 0, ms)
		h.Plan(sec, died(0))
		h.Arrive(2*sec, 0, ms)
		h.Run(3 * sec)
		wantString(t, h, "kinds", kinds(h), "cold cold")
	})
	t.Run("busy, with its request", func(t *testing.T) {
		h := enginetest.New(t, config(t, "cidre", 1000), fn(100, 100*ms))
		h.Ends = func(engine.Action) engine.Event { return engine.Event{Kind: engine.EvFinished} }
		h.Arrive(0, 0, sec)
		h.Plan(500*ms, died(0))
		h.Run(3 * sec)
		wantLog(t, h, `
			0s    start f0 as s0
			100ms run r0 on s0 cold wait 100ms
			1.1s  destroy s0: unusable`)
	})
	t.Run("not reusable", func(t *testing.T) {
		h := enginetest.New(t, config(t, "cidre-bss", 100), fn(100, 100*ms))
		h.Ends = func(a engine.Action) engine.Event { return engine.Event{Kind: engine.EvFinished, OK: a.Req != 0} }
		h.Arrive(0, 0, sec)
		h.Arrive(200*ms, 0, ms)
		h.Run(3 * sec)
		wantWaits(t, h, 100*ms, 1000*ms) // a new one from 1.1 s on
		wantString(t, h, "kinds", kinds(h), "cold cold")
	})
}

func TestReturnedRequestKeepsItsPlace(t *testing.T) {
	for _, preset := range []string{"cidre-bss", "ttl"} {
		t.Run(preset, func(t *testing.T) {
			// r1 finds its sandbox dead after 20 ms; r2 to r3 wait by then.
			h := enginetest.New(t, config(t, preset, 100), fn(100, 100*ms))
			h.Ends = func(a engine.Action) engine.Event {
				if a.Req == 1 && a.Sandbox == 0 && a.Start == policies.Warm {
					return engine.Event{Kind: engine.EvReturned}
				}
				return engine.Event{Kind: engine.EvFinished, OK: true}
			}
			h.Arrive(0, 0, ms)
			h.Arrive(sec, 0, 20*ms)
			h.Arrive(1005*ms, 0, 20*ms)
			h.Arrive(1010*ms, 0, 20*ms)
			h.Run(5 * sec)
			// The new sandbox is ready at 1.12 s and serves r1, r2, r3.
			wantWaits(t, h, 100*ms, 120*ms, 135*ms, 150*ms)
			if k := h.Results[1].Kind; k == policies.Warm {
				t.Error("a returned request counts as warm")
			}
		})
	}
	t.Run("another sandbox is free", func(t *testing.T) {
		h := enginetest.New(t, config(t, "ttl", 1000), fn(100, 100*ms))
		h.Ends = func(a engine.Action) engine.Event {
			if a.Req == 2 && a.Start == policies.Warm {
				return engine.Event{Kind: engine.EvReturned}
			}
			return engine.Event{Kind: engine.EvFinished, OK: true}
		}
		h.Arrive(0, 0, ms)
		h.Arrive(0, 0, ms)
		h.Arrive(sec, 0, 20*ms)
		h.Run(5 * sec)
		wantString(t, h, "kinds", kinds(h), "cold cold delayed")
		wantWaits(t, h, 100*ms, 100*ms, 20*ms)
	})
	t.Run("new sandboxes that die at once are tried four times", func(t *testing.T) {
		h := enginetest.New(t, config(t, "cidre", 1000), fn(100, 100*ms))
		h.Ends = func(engine.Action) engine.Event { return engine.Event{Kind: engine.EvReturned} }
		h.Arrive(0, 0, 10*ms)
		h.Run(5 * sec)
		wantRejections(t, h, engine.ReasonLambda)
		if w := h.Results[0].Wait; starts(h) != 4 || w != 440*ms {
			t.Errorf("%d starts in %v, want 4 in 440 ms\n%s", starts(h), w, h.Transcript())
		}
	})
	t.Run("its function is gone", func(t *testing.T) {
		h := enginetest.New(t, config(t, "ttl", 1000), fn(100, 100*ms))
		h.Ends = func(engine.Action) engine.Event { return engine.Event{Kind: engine.EvReturned} }
		h.Arrive(0, 0, sec)
		h.Plan(500*ms, engine.Event{Kind: engine.EvForget, Fn: 0})
		h.Run(5 * sec)
		wantRejections(t, h, engine.ReasonForgotten)
	})
}
