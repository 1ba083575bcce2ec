package engine_test

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
	"github.com/open-lambda/open-lambda/policies/lru"
)

// echo prewarms one sandbox 3 s after each arrival. Between arrivals it has
// nothing to plan.
type echo struct {
	wake  policies.Time
	plans []policies.Time
}

func (e *echo) Observe(v policies.View, f policies.Fact) {
	if f.Kind == policies.FactArrived {
		e.wake = v.Now().Add(3 * time.Second)
	}
}

func (e *echo) Wake() policies.Time { return e.wake }

func (e *echo) Plan(v policies.View) ([]policies.Want, policies.Time) {
	e.plans = append(e.plans, v.Now())
	if e.wake == policies.Never || e.wake > v.Now() {
		return nil, policies.Never
	}
	e.wake = policies.Never
	return []policies.Want{{Fn: 0, N: 2}}, policies.Never
}

func TestWakerIsAskedWhenItWishes(t *testing.T) {
	p := &echo{}
	h := enginetest.New(t, engine.Config{PoolMB: 1000, Scaler: coldstart.Scaler{}, Evictor: &lru.LRU{}, Prewarmer: p}, fn(100, 100*ms))
	h.Arrive(10*time.Second, 0, 50*ms)
	h.Run(time.Hour)
	want := `     10s  start f0 as s0
   10.1s  run r0 on s0 cold wait 100ms
     13s  start f0 as s1
`
	if got := h.Transcript(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if len(p.plans) != 2 { // at the first Step, and when it was woken
		t.Errorf("planned at %v", p.plans)
	}
}

// stuck always wishes to be woken at once.
type stuck struct{ echo }

func (s *stuck) Wake() policies.Time { return 1 }

func TestWakerCannotStopTime(t *testing.T) {
	p := &stuck{}
	e, err := engine.New(engine.Config{PoolMB: 1000, Scaler: coldstart.Scaler{}, Evictor: &lru.LRU{}, Prewarmer: p})
	if err != nil {
		t.Fatal(err)
	}
	for now := policies.Time(5); now < 8; now++ {
		e.Step(now, engine.Event{Kind: engine.EvTick}, nil)
		if next, ok := e.NextTimer(); !ok || next != now+1 {
			t.Errorf("at %d the next timer is %d, %v, want %d", now, next, ok, now+1)
		}
	}
}
