package engine_test

// The rules of the engine about changes from outside, and about a driver that
// does not keep to the protocol.

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
)

func define(rev uint32, mb int64) engine.Event {
	return engine.Event{Kind: engine.EvDefine, Fn: 0, Spec: policies.Spec{Revision: rev, MB: mb, Slots: 1}}
}

func TestRevisionChange(t *testing.T) {
	for _, preset := range []string{"cidre", "cidre-bss", "ttl"} {
		t.Run(preset, func(t *testing.T) {
			h := enginetest.New(t, config(t, preset, 1000), fn(100, 100*ms))
			h.Arrive(0, 0, 2*sec)      // s0: busy at the change
			h.Arrive(0, 0, 10*ms)      // s1: idle at the change
			h.Arrive(550*ms, 0, sec)   // on s1
			h.Arrive(950*ms, 0, 10*ms) // s2: being provisioned at the change
			h.Plan(sec, define(2, 120))
			h.Do(1050*ms, func() {
				if f := view(h, 0); f.Live != 1 || f.Provisioning != 1 || f.Arrived != 4 {
					t.Errorf("after the change: %+v", f)
				}
			})
			h.Arrive(3*sec, 0, ms)
			h.Run(5 * sec)
			wantString(t, h, "kinds", kinds(h), "cold cold warm cold warm")
			if w := h.Results[3].Wait; w != 150*ms {
				t.Errorf("r3 waited %v, want 150 ms: a start of the new revision\n%s", w, h.Transcript())
			}
			if n := len(lines(h, "destroy")); n != 3 || len(h.E.Snapshot().Boxes) != 1 {
				t.Errorf("%d destroyed, want 3\n%s", n, h.Transcript())
			}
			for _, b := range h.E.Snapshot().Boxes {
				if b.Revision != 2 || b.MB != 120 {
					t.Errorf("sandbox %+v is left", b)
				}
			}
		})
	}
}

func TestRevisionChangeKeepsTheOrderOfBoundRequests(t *testing.T) {
	// Three starts in progress of 100 MB; those of the new revision need 300
	// MB each and come one by one, the oldest request's first.
	h := enginetest.New(t, config(t, "ttl", 300), fn(100, 100*ms))
	for i := range 3 {
		h.Arrive(time.Duration(i)*10*ms, 0, sec)
	}
	h.Plan(50*ms, define(2, 300))
	h.Run(10 * sec)
	wantWaits(t, h, 150*ms, 1140*ms, 2130*ms)
}

func TestForget(t *testing.T) {
	for _, preset := range []string{"cidre", "ttl"} {
		t.Run(preset, func(t *testing.T) {
			h := enginetest.New(t, config(t, preset, 200), fn(100, 100*ms))
			h.Arrive(0, 0, 2*sec)
			h.Arrive(0, 0, 10*ms)
			h.Arrive(sec, 0, 2*sec)  // s1
			h.Arrive(1100*ms, 0, ms) // waits
			h.Plan(1200*ms, engine.Event{Kind: engine.EvForget, Fn: 0})
			h.Arrive(1300*ms, 0, ms)
			h.Run(4 * sec)
			wantString(t, h, "kinds", kinds(h), "cold cold warm - -")
			gone := engine.ReasonForgotten
			wantRejections(t, h, 0, 0, 0, gone, gone)
			if n := h.E.Snapshot().Node; n.FreeMB != 200 || !h.Results[0].Done {
				t.Errorf("%d MB free of 200\n%s", n.FreeMB, h.Transcript())
			}
			h.Plan(5*sec, define(1, 100))
			h.Arrive(5*sec, 0, ms)
			h.Run(6 * sec)
			if f := view(h, 0); f.Arrived != 5 || !h.Results[5].Served {
				t.Errorf("defined again: %d arrivals, served %v", f.Arrived, h.Results[5].Served)
			}
		})
	}
}

func TestResize(t *testing.T) {
	resize := func(mb int64) engine.Event { return engine.Event{Kind: engine.EvResize, MB: mb} }
	one := fn(100, 100*ms)
	t.Run("idle sandboxes go until the rest fits", func(t *testing.T) {
		h := enginetest.New(t, config(t, "lru", 300), one, one, one)
		for i := range 3 {
			h.Arrive(time.Duration(i)*sec, policies.FuncID(i), ms)
		}
		h.Plan(5*sec, resize(150))
		h.Run(6 * sec)
		wantString(t, h, "victims", victims(h), "s0 s1")
	})
	t.Run("busy ones go when they come idle", func(t *testing.T) {
		h := enginetest.New(t, config(t, "lru", 300), one, one)
		h.Arrive(0, 0, 2*sec)
		h.Arrive(0, 1, 3*sec)
		h.Plan(sec, resize(100))
		h.Run(5 * sec)
		wantString(t, h, "victims", victims(h), "s0")
		if n := h.E.Snapshot().Node; n.FreeMB != 0 {
			t.Errorf("%d MB free", n.FreeMB)
		}
	})
	t.Run("a larger pool grants what waits", func(t *testing.T) {
		h := enginetest.New(t, config(t, "lru", 100), one, one)
		h.Arrive(0, 0, 2*sec)
		h.Arrive(0, 1, ms)
		h.Plan(sec, resize(200))
		h.Run(5 * sec)
		wantWaits(t, h, 100*ms, 1100*ms)
	})
	t.Run("what never fits any more is rejected", func(t *testing.T) {
		h := enginetest.New(t, config(t, "cidre", 200), one, fn(200, ms))
		h.Arrive(0, 0, 5*sec)
		h.Arrive(sec, 1, ms)
		h.Plan(2*sec, resize(150))
		h.Run(3 * sec)
		wantRejections(t, h, 0, engine.ReasonTooLarge)
	})
}

func TestResizeRejectsBoundRequestsThatNeverFit(t *testing.T) {
	h := enginetest.New(t, config(t, "ttl", 200), fn(100, 100*ms), fn(200, ms))
	h.Arrive(0, 0, 5*sec)
	h.Arrive(sec, 1, ms)
	h.Plan(2*sec, engine.Event{Kind: engine.EvResize, MB: 150})
	h.Run(3 * sec)
	wantRejections(t, h, 0, engine.ReasonTooLarge)
}

func TestTimeDoesNotGoBack(t *testing.T) {
	h := play(t, "cidre", 1000, twoOf100(), nil, 0)
	h.E.Step(policies.Time(5*sec), engine.Event{Kind: engine.EvTick}, nil)
	h.E.Step(policies.Time(2*sec), engine.Event{Kind: engine.EvTick}, nil)
	if now := h.E.Snapshot().Now; now != policies.Time(5*sec) {
		t.Errorf("now %d, want %d", now, 5*sec)
	}
}

func TestForgetBoundRequests(t *testing.T) {
	// r0 is bound to a start in progress, r1 to one that lacks memory.
	h := enginetest.New(t, config(t, "ttl", 100), twoOf100()...)
	h.Arrive(0, 0, sec)
	h.Arrive(0, 0, sec)
	h.Plan(50*ms, engine.Event{Kind: engine.EvForget, Fn: 0})
	h.Arrive(60*ms, 1, ms)
	h.Run(sec)
	wantRejections(t, h, engine.ReasonForgotten, engine.ReasonForgotten, 0)
	wantWaits(t, h, 50*ms, 50*ms, 100*ms)
}

func TestBreachesOfTheProtocolAreReported(t *testing.T) {
	for _, c := range []struct {
		name string
		ev   engine.Event
	}{
		{"finished, not running", engine.Event{Kind: engine.EvFinished, Req: 0, Sandbox: 0}},
		{"returned, not running", engine.Event{Kind: engine.EvReturned, Req: 0, Sandbox: 0}},
		{"ready twice", engine.Event{Kind: engine.EvReady, Sandbox: 0}},
		{"failed when ready", engine.Event{Kind: engine.EvFailed, Sandbox: 0}},
		{"gone without a destroy", engine.Event{Kind: engine.EvGone, Sandbox: 0}},
		{"unknown function", engine.Event{Kind: engine.EvArrive, Fn: 7, Req: 1}},
		{"negative request", engine.Event{Kind: engine.EvArrive, Req: -1}},
		{"function ids with a hole", engine.Event{Kind: engine.EvDefine, Fn: 5, Spec: policies.Spec{MB: 1}}},
		{"a function without memory", engine.Event{Kind: engine.EvDefine, Fn: 1}},
		{"a pool of nothing", engine.Event{Kind: engine.EvResize}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := play(t, "cidre", 1000, []enginetest.Fn{fn(100, 100*ms)}, []call{{0, 0, ms}}, sec)
			h.NoCheck = true
			before := h.E.Snapshot()
			h.Log, h.Results = nil, append(h.Results, enginetest.Result{})
			out := h.E.Step(policies.Time(2*sec), c.ev, nil)
			if h.E.Check() == nil || len(out) != 0 {
				t.Errorf("accepted, actions %v", out)
			}
			if after := h.E.Snapshot(); after.Node != before.Node {
				t.Errorf("node changed from %+v to %+v", before.Node, after.Node)
			}
		})
	}
}

func TestNewRefusesNonsense(t *testing.T) {
	good := config(t, "cidre", 100)
	for name, spoil := range map[string]func(*engine.Config){
		"no scaler":       func(c *engine.Config) { c.Scaler = nil },
		"no evictor":      func(c *engine.Config) { c.Evictor = nil },
		"no pool":         func(c *engine.Config) { c.PoolMB = 0 },
		"negative slots":  func(c *engine.Config) { c.StartSlots = -1 },
		"negative limit":  func(c *engine.Config) { c.QueueLimit = -1 },
		"negative starve": func(c *engine.Config) { c.StarveMin = -1 },
		"negative retry":  func(c *engine.Config) { c.RetryBase = -1 },
	} {
		cfg := good
		spoil(&cfg)
		if _, err := engine.New(cfg); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
