package bench

import (
	"math"
	"slices"
	"time"
)

// Describe sorts durations and describes them, by nearest rank.
func Describe(values []time.Duration) Times {
	if len(values) == 0 {
		return Times{}
	}
	slices.Sort(values)
	return Times{N: len(values), Median: rank(values, 0.5), P99: rank(values, 0.99)}
}

func rank(sorted []time.Duration, q float64) time.Duration {
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// Ratio divides two durations; by nothing it is infinite.
func Ratio(a, b time.Duration) float64 {
	if b <= 0 {
		return math.Inf(1)
	}
	return float64(a) / float64(b)
}
