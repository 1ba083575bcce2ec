package replay

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/src/trace"
)

func node(preset string, poolMB int64) Node {
	return Node{PoolMB: poolMB, Overhead: 10 * time.Millisecond, Policy: func() (catalog.Policy, error) {
		return catalog.New(preset, "", "", catalog.Params{})
	}}
}

func TestPredictByHand(t *testing.T) {
	// Two requests of one lambda: the second finds the sandbox of the first.
	w := workload(0, 5*time.Second)
	got, err := Predict(t.Context(), node("ttl", 1000), w)
	if err != nil {
		t.Fatal(err)
	}
	want := Prediction{
		Span: 5250 * time.Millisecond, Requests: 2, Cold: 1, Warm: 1,
		Starts: 1, Init: 1010 * time.Millisecond, PeakMB: 100,
		OverheadMean: 505 * time.Millisecond, OverheadRatio: 1.01 / 1.26 / 2,
		Overhead: Distribution{N: 2, Mean: 505 * time.Millisecond, P99: 1010 * time.Millisecond, Max: 1010 * time.Millisecond},
		PerNode:  []int{2},
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
		if e, _ := catalog.Find(preset); slices.Contains(e.Caps, catalog.CapOracle) {
			continue
		}
		for _, pool := range []int64{500, 2000} {
			first, err := Predict(t.Context(), node(preset, pool), w)
			if err != nil {
				t.Errorf("%s, %d MB: %v", preset, pool, err)
				continue
			}
			if sum := first.Cold + first.Delayed + first.Warm + first.Rejected; sum != len(w.Requests) || first.PeakMB > pool {
				t.Errorf("%s, %d MB: %+v", preset, pool, first)
			}
			second, err := Predict(t.Context(), node(preset, pool), w)
			if err != nil || !cmp.Equal(second, first) {
				t.Errorf("%s, %d MB: %+v and %+v, %v", preset, pool, first, second, err)
			}
		}
	}
}
