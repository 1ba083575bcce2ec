package dispatch

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/worker/fake"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// teller is a provider that knows what a start takes once it has made one.
type teller struct {
	*fake.Provider
}

func (t teller) Estimate(spec sandbox.Spec) (time.Duration, bool) {
	made, _ := t.Made()
	return time.Duration(made) * time.Millisecond, made > 0 && spec.Dir == "1"
}

// listener notes the estimates that the engine is told.
type listener struct {
	Stepper
	told []time.Duration
}

func (l *listener) Step(now policies.Time, ev engine.Event, out []engine.Action) []engine.Action {
	if ev.Kind == engine.EvEstimate {
		l.told = append(l.told, ev.Dur)
	}
	return l.Stepper.Step(now, ev, out)
}

func TestEngineIsToldWhatAStartTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, hello, func(n *node, c *Config, _ *engine.Config) { c.Provider = teller{n.provider} })
		defer n.end()
		heard := &listener{Stepper: n.cfg.Engine}
		n.mu.Lock()
		n.cfg.Engine = heard
		n.mu.Unlock()
		f := n.define("f", 100, nil)
		g := n.define("g", 100, func(r *Revision) { r.Spec.Dir = "2" })
		for _, fn := range []*Func{f, g} {
			if _, _, err := n.call(fn); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		n.define("f2", 100, nil)
		n.mu.Lock()
		defer n.mu.Unlock()
		if len(heard.told) != 2 || heard.told[0] != time.Millisecond || heard.told[1] != 2*time.Millisecond {
			t.Errorf("told %v: want 1 ms after f's start, nothing about g, 2 ms when f2 is defined", heard.told)
		}
	})
}
