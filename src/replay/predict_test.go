package replay

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/trace"
)

func newEngine(t *testing.T, preset string, poolMB int64) *engine.Engine {
	t.Helper()
	p, err := catalog.New(preset, "", "", catalog.Params{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(engine.Config{PoolMB: poolMB, Scaler: p.Scaler, Evictor: p.Evictor, Picker: p.Picker, Prewarmer: p.Prewarmer})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestPredictByHand(t *testing.T) {
	// Two requests of one lambda: the second finds the sandbox of the first.
	w := workload(0, 5*time.Second)
	got, err := Predict(newEngine(t, "ttl", 1000), w, 10*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	want := Prediction{
		Span: 5250 * time.Millisecond, Requests: 2, Cold: 1, Warm: 1,
		Starts: 1, BusiestStarts: 1, Init: 1010 * time.Millisecond, PeakMB: 100,
		OverheadMean: 505 * time.Millisecond, OverheadRatio: 1.01 / 1.26 / 2,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Whatever the policy and however short memory is: nobody is lost, the pool is
// kept, and the same workload gives the same prediction.
func TestPredictConserves(t *testing.T) {
	functions, err := trace.Excerpt()
	if err != nil {
		t.Fatal(err)
	}
	invocations, err := trace.Expand(functions, trace.Options{Minutes: 1, Sigma: 1, Seed: 1, MaxExec: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	w := Scale(functions, invocations, 1)
	for _, preset := range catalog.Names("") {
		for _, pool := range []int64{500, 2000} {
			first, err := Predict(newEngine(t, preset, pool), w, 10*time.Millisecond)
			if err != nil {
				t.Errorf("%s, %d MB: %v", preset, pool, err)
				continue
			}
			if sum := first.Cold + first.Delayed + first.Warm + first.Rejected; sum != len(w.Requests) || first.PeakMB > pool {
				t.Errorf("%s, %d MB: %+v", preset, pool, first)
			}
			second, err := Predict(newEngine(t, preset, pool), w, 10*time.Millisecond)
			if err != nil || second != first {
				t.Errorf("%s, %d MB: %+v and %+v, %v", preset, pool, first, second, err)
			}
		}
	}
}
