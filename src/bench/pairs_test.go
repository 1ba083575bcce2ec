package bench

import (
	"math/rand/v2"
	"testing"
	"time"
)

// few are as many resamples as tell right from wrong; a bar has more.
const few = 100

// drawn are latencies of an exponential distribution with that mean.
func drawn(rng *rand.Rand, n int, mean time.Duration) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = time.Duration(rng.ExpFloat64() * float64(mean))
	}
	return out
}

func drawnPairs(rng *rand.Rand, times float64) []Pair {
	pairs := make([]Pair, 5)
	for i := range pairs {
		machine := time.Duration((1 + rng.Float64()) * float64(time.Millisecond)) // it is faster or slower for a pair
		pairs[i] = Pair{Base: drawn(rng, 400, machine), Other: drawn(rng, 400, time.Duration(times*float64(machine)))}
	}
	return pairs
}

func TestCompareTails(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, truth := range []float64{0.5, 1, 2, 4} {
		got, err := compareTails(drawnPairs(rng, truth), 7, few)
		if err != nil {
			t.Fatal(err)
		}
		if got.Low > truth || got.High < truth || got.Ratio < got.Low || got.Ratio > got.High {
			t.Errorf("%v times as slow: %+v", truth, got)
		}
		if got.High/got.Low > 1.6 {
			t.Errorf("2,000 latencies a side say no more than %+v", got)
		}
	}
}

// The lower bound is above the truth in about one of twenty measurements.
func TestCompareTailsCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const runs = 40
	above := 0
	for range runs {
		got, err := compareTails(drawnPairs(rng, 2)[:3], 7, few)
		if err != nil {
			t.Fatal(err)
		}
		if got.Low > 2 {
			above++
		}
	}
	if above > runs/6 {
		t.Errorf("%d of %d lower bounds are above the truth", above, runs)
	}
}

// Latencies of one bad moment count as one thing that happened, not as many.
func TestCompareTailsSeesBlocks(t *testing.T) {
	even := make([]time.Duration, 400)
	for i := range even {
		even[i] = time.Duration(1000 + i%7)
	}
	scattered, bunched := make([]time.Duration, 400), make([]time.Duration, 400)
	copy(scattered, even)
	copy(bunched, even)
	for i := range 24 { // 6 %: just enough to be the 95th percentile
		scattered[i*16], bunched[i] = 5000, 5000
	}
	low := func(other []time.Duration) float64 {
		got, err := compareTails([]Pair{{even, other}, {even, other}, {even, other}}, 1, few)
		if err != nil {
			t.Fatal(err)
		}
		if got.Ratio < 4 {
			t.Fatalf("the ratio is %v", got.Ratio)
		}
		return got.Low
	}
	if low(bunched) > 1.1 {
		t.Errorf("one bad moment a half has the lower bound %v", low(bunched))
	}
}

func TestCompareTailsIsDeterministic(t *testing.T) {
	pairs := drawnPairs(rand.New(rand.NewPCG(5, 6)), 1)
	a, _ := compareTails(pairs, 9, few)
	b, err := compareTails(pairs, 9, few)
	if err != nil || a != b {
		t.Errorf("%+v, then %+v: %v", a, b, err)
	}
	if c, _ := compareTails(pairs, 10, few); c == a {
		t.Error("the seed has no effect")
	}
}

func TestCompareTailsRefuses(t *testing.T) {
	for name, pairs := range map[string][]Pair{
		"nothing":    nil,
		"empty half": {{Base: []time.Duration{1}}},
	} {
		if got, err := CompareTails(pairs, 1); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
