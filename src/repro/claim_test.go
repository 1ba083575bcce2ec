package repro

import (
	"math"
	"testing"

	"github.com/open-lambda/open-lambda/src/sim/study"
)

func TestVerdicts(t *testing.T) {
	wide := study.Interval{Mean: 1, Half: 2, N: 3}
	at := func(mean float64) study.Interval { return study.Interval{Mean: mean, Half: 0.5, N: 3} }
	ordered := order("", "", "points", nil)
	valued := about("", "", 40, nil) // 30 to 50
	for _, c := range []struct {
		name  string
		claim Claim
		m     study.Interval
		want  Verdict
		why   string
	}{
		{"order holds", ordered, at(1), Pass, ""},
		{"order reversed", ordered, at(-1), Fail, "it is the other way round"},
		{"order undecided", ordered, wide, Fail, "undecided: the interval contains 0"},
		{"one seed decides an order", ordered, single(0.1), Pass, ""},
		{"value within", valued, at(30), Pass, ""},
		{"value too low", valued, at(29.9), Fail, "less than tolerated"},
		{"value too high", valued, at(50.1), Fail, "more than tolerated"},
		{"nothing measured", valued, single(math.NaN()), Fail, "nothing was measured"},
		{"fitted", ordered.using("azure-like", "lru", "faascache"), at(-1), Fitted, "the workload was calibrated to it"},
		{"partly fitted", ordered.using("azure-like", "lru", "ttl"), at(-1), Fail, "it is the other way round"},
		{"fitted elsewhere", ordered.using("s2-sigma1", "lru", "faascache"), at(1), Pass, ""},
		{"untestable", untestable("", "", "%", 1, "no data", nil), at(1), NotTestable, "no data"},
	} {
		if got, why := c.claim.decide(c.m); got != c.want || why != c.why {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, got, why, c.want, c.why)
		}
	}
}

// Five points or a quarter, and never down to no effect at all.
func TestTolerance(t *testing.T) {
	for _, c := range []struct{ value, low, high float64 }{{3.6, 0, 8.6}, {12.5, 7.5, 17.5}, {75.1, 56.325, 93.875}} {
		if low, high := tolerance(c.value); math.Abs(low-c.low) > 1e-9 || math.Abs(high-c.high) > 1e-9 {
			t.Errorf("%v: %v to %v", c.value, low, high)
		}
	}
}

func TestCurve(t *testing.T) {
	var samples []float64
	for i := 1000; i >= 0; i-- {
		samples = append(samples, float64(i))
	}
	c := newCurve(samples)
	for q, want := range map[float64]float64{0: 0, 0.25: 250, 0.5: 500, 1: 1000} {
		if got := c.At(q); got != want {
			t.Errorf("quantile %v is %v", q, got)
		}
		if got := c.Share(want); math.Abs(got-q) > 1e-9 {
			t.Errorf("share of %v is %v", want, got)
		}
	}
	if c.Share(-1) != 0 || c.Share(2000) != 1 || !math.IsNaN(Curve(nil).At(0.5)) || !math.IsNaN(Curve(nil).Share(1)) || newCurve(nil) != nil {
		t.Error("the ends are wrong")
	}
	// Waits spread over 0..1000 against a cold start of 400 always.
	constant := make(Curve, len(c))
	for i := range constant {
		constant[i] = 400
	}
	if at, share := crossing(c, constant); math.Abs(at-400) > 10 || math.Abs(share-0.4) > 0.01 {
		t.Errorf("they cross at %v, %v", at, share)
	}
	if _, share := crossing(constant, newCurve([]float64{500, 600})); share != 1 {
		t.Errorf("the sooner one crosses at %v", share)
	}
}
