package sim

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/src/trace"
)

// erlangC is the probability of waiting in M/M/c with the given load in
// Erlang, by the recursion of Erlang B.
func erlangC(c int, load float64) float64 {
	b := 1.0
	for k := 1; k <= c; k++ {
		b = load * b / (float64(k) + load*b)
	}
	return float64(c) * b / (float64(c) - load*(1-b))
}

// One function with at most c sandboxes that start at once and are never
// evicted is M/M/c. Mean waits and shares of waiting requests over independent
// replications must agree with Erlang C within their confidence interval.
func TestMMcAgreesWithErlangC(t *testing.T) {
	const replications, requests = 20, 16_000
	exec := 100 * time.Millisecond
	for _, tt := range []struct {
		c    int
		load float64
	}{{1, 0.5}, {3, 2.1}, {10, 7.5}} {
		var waits, shares []float64
		for k := range replications {
			res := mustRun(t, mmc(uint64(k), requests, tt.c, tt.load, exec))
			waits = append(waits, res.Wait.Mean)
			shares = append(shares, float64(res.Delayed+res.Cold)/float64(res.Served))
		}
		p := erlangC(tt.c, tt.load)
		within(t, "share that waits", shares, p)
		within(t, "mean wait, ms", waits, p*millis(exec)/(float64(tt.c)-tt.load))
	}
}

// within checks a mean against its expectation at 99.9 % (t of 19 degrees of
// freedom), so that a sound simulator fails once in a thousand seeds; the seeds
// are fixed.
func within(t *testing.T, what string, samples []float64, want float64) {
	t.Helper()
	sum, squares, n := 0.0, 0.0, float64(len(samples))
	for _, v := range samples {
		sum += v
	}
	mean := sum / n
	for _, v := range samples {
		squares += (v - mean) * (v - mean)
	}
	half := 3.883 * math.Sqrt(squares/(n-1)/n)
	if math.Abs(mean-want) > half {
		t.Errorf("%s: %v +- %v, Erlang C says %v", what, mean, half, want)
	}
	if half > 0.25*want {
		t.Errorf("%s: interval of %v around %v says nothing", what, half, mean)
	}
}

func mmc(seed uint64, requests, c int, load float64, exec time.Duration) Config {
	r := rand.New(rand.NewPCG(seed, 77))
	gap := float64(exec) / load
	at := 0.0
	all := make([]trace.Invocation, requests)
	for i := range all {
		at += r.ExpFloat64() * gap
		all[i] = trace.Invocation{At: time.Duration(at), Exec: time.Duration(r.ExpFloat64() * float64(exec))}
	}
	cfg := config("bss", trace.FromSlice("mmc", 0, []trace.Profile{{Name: "f", MB: 1}}, all))
	cfg.PoolMB = 1000
	cfg.Spec = func(trace.Profile) policies.Spec { return policies.Spec{Revision: 1, MB: 1, Slots: 1, Max: c} }
	return cfg
}
