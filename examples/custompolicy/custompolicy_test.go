package custompolicy_test

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/examples/custompolicy"
	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/cidre"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
	"github.com/open-lambda/open-lambda/policies/lru"
	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/trace"
)

func fn(mb int64) enginetest.Fn {
	return enginetest.Fn{Spec: policies.Spec{MB: mb, ColdEst: time.Second}, Cold: time.Second}
}

// By hand, against the engine alone: with 100 + 200 MB idle in a pool of 300,
// a start of 100 MB makes the one of 200 go.
func TestBiggestGoesFirst(t *testing.T) {
	h := enginetest.New(t, engine.Config{PoolMB: 300, Scaler: cidre.BSS{}, Evictor: &custompolicy.Biggest{}}, fn(200), fn(100), fn(100))
	h.Arrive(0, 1, time.Second)
	h.Arrive(time.Second, 0, time.Second)
	h.Arrive(10*time.Second, 2, time.Second)
	h.Run(20 * time.Second)
	if got := h.E.Func(0).Live; got != 0 {
		t.Errorf("the biggest sandbox is still there:\n%s", h.Transcript())
	}
	if got := h.E.Func(1).Live; got != 1 {
		t.Errorf("the small sandbox is gone:\n%s", h.Transcript())
	}
}

// Three requests at once for a warm function: one runs, one waits for it, the
// third gets a start.
func TestPatientLetsOneWaitForEachBusySandbox(t *testing.T) {
	h := enginetest.New(t, engine.Config{PoolMB: 1000, Scaler: custompolicy.Patient{}, Evictor: &lru.LRU{}}, fn(100))
	h.Arrive(0, 0, time.Second)
	for range 3 {
		h.Arrive(10*time.Second, 0, time.Second)
	}
	h.Run(30 * time.Second)
	if got := h.E.Func(0).Live; got != 2 {
		t.Errorf("%d sandboxes, want 2:\n%s", got, h.Transcript())
	}
}

// In the simulator, by the names that custom.go gives them.
func TestInTheSimulator(t *testing.T) {
	functions, err := trace.Excerpt()
	if err != nil {
		t.Fatal(err)
	}
	w, err := trace.PerMinute("demo", functions, trace.Options{Minutes: 2, Seed: 1}, trace.DefaultModel())
	if err != nil {
		t.Fatal(err)
	}
	res, err := sim.Run(t.Context(), sim.Config{
		Workload: w, Nodes: 1, PoolMB: 2000,
		Policy: func(policies.Oracle) (catalog.Policy, error) {
			return catalog.New("lru", "example-patient", "example-biggest", catalog.Params{})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.Served != res.Arrived || res.Delayed == 0 {
		t.Errorf("arrived %d, served %d, delayed %d", res.Arrived, res.Served, res.Delayed)
	}
}
