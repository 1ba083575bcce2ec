package bench

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Pair are latencies measured one half after the other, each half in the order
// in which its requests were answered.
type Pair struct{ Base, Other []time.Duration }

// Interval is a ratio, and bounds for it with 95 % confidence each: the ratio
// is below Low in one of twenty such measurements, and above High in one.
type Interval struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

const (
	tail      = 0.95 // the quantile that is compared
	resamples = 2000 // of a bootstrap
)

// CompareTails is the ratio of the 95th percentiles of all Other and all Base
// latencies, with bounds by a bootstrap in two stages: pairs are drawn with
// replacement, because the machine differs from pair to pair, and in each half
// blocks of successive latencies are, because neighbours in time resemble each
// other (Kuensch 1989; blocks as long as the root of the half). The same
// latencies and seed give the same bounds.
func CompareTails(pairs []Pair, seed uint64) (Interval, error) {
	return compareTails(pairs, seed, resamples)
}

func compareTails(pairs []Pair, seed uint64, resamples int) (Interval, error) {
	for _, p := range pairs {
		if len(p.Base) == 0 || len(p.Other) == 0 {
			return Interval{}, errors.New("compare latencies: a half has none")
		}
	}
	if len(pairs) == 0 {
		return Interval{}, errors.New("compare latencies: there are no pairs")
	}
	var base, other []time.Duration
	for _, p := range pairs {
		base, other = append(base, p.Base...), append(other, p.Other...)
	}
	ratio := tailRatio(base, other)
	rng := rand.New(rand.NewPCG(seed, uint64(len(pairs))))
	ratios := make([]float64, resamples)
	for i := range ratios {
		base, other = base[:0], other[:0]
		for range pairs {
			p := pairs[rng.IntN(len(pairs))]
			base = appendBlocks(base, p.Base, rng)
			other = appendBlocks(other, p.Other, rng)
		}
		ratios[i] = tailRatio(base, other)
	}
	slices.Sort(ratios)
	return Interval{Ratio: ratio, Low: ratios[resamples*5/100], High: ratios[resamples*95/100-1]}, nil
}

// appendBlocks draws as many values as there are, in blocks of successive ones;
// the first follows the last.
func appendBlocks(to, values []time.Duration, rng *rand.Rand) []time.Duration {
	block := max(1, int(math.Sqrt(float64(len(values)))))
	for left := len(values); left > 0; left -= block {
		at := rng.IntN(len(values))
		for i := range min(block, left) {
			to = append(to, values[(at+i)%len(values)])
		}
	}
	return to
}

// tailRatio sorts both.
func tailRatio(base, other []time.Duration) float64 {
	return Ratio(Tail(other), Tail(base))
}

// Tail sorts durations and returns their 95th percentile, by nearest rank; 0 if
// there are none.
func Tail(values []time.Duration) time.Duration {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return rank(values, tail)
}
