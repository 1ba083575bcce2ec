package replay

import (
	"fmt"
	"math"
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

// Starts that vary in the workload vary in the prediction, around the same median.
func TestPredictSpreadsStarts(t *testing.T) {
	w := Workload{}
	for i := range 2000 { // each is the only request of its lambda
		w.Lambdas = append(w.Lambdas, Lambda{Name: fmt.Sprintf("f%d", i), MemMB: 1, Init: time.Second, InitSigma: 0.4})
		w.Requests = append(w.Requests, Request{At: time.Duration(i) * time.Second, Lambda: i})
	}
	n := node("ttl", 10_000)
	n.Overhead = time.Second // which does not vary
	got, err := Predict(t.Context(), n, w)
	if err != nil {
		t.Fatal(err)
	}
	// (1 s + 1 s) e^(0.2 z): at z = 2.33 3.2 s.
	seconds := func(d time.Duration) float64 { return d.Seconds() }
	if p50, p99 := seconds(got.Overhead.P50), seconds(got.Overhead.P99); math.Abs(p50-2) > 0.05 || math.Abs(p99-3.19) > 0.25 {
		t.Errorf("p50 %v s, p99 %v s", p50, p99)
	}
	if mean := seconds(got.Init) / 2000; math.Abs(mean-2*math.Exp(0.02)) > 0.001 {
		t.Errorf("mean start %v s", mean)
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
