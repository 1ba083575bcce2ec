package replay

import (
	"iter"
	"math"
	"slices"
	"time"
)

// Distribution describes a set of durations.
type Distribution struct {
	N    int           `json:"n"`
	Mean time.Duration `json:"mean_ns"`
	P50  time.Duration `json:"p50_ns"`
	P99  time.Duration `json:"p99_ns"`
	Max  time.Duration `json:"max_ns"`
}

// Summary is what a replay amounts to. Requests without a good answer count
// as Errors and in no distribution.
type Summary struct {
	Requests int `json:"requests"`
	Cold     int `json:"cold"`
	Delayed  int `json:"delayed"`
	Warm     int `json:"warm"`
	Errors   int `json:"errors"`

	// Overhead is the latency without the execution as the worker reports it: see
	// Sample.Overhead.
	Overhead Distribution `json:"overhead"`
	// OverheadRatio is the mean over the requests of overhead / (overhead + exec)
	// (CIDRE section 2.4), 0 to 1.
	OverheadRatio float64 `json:"overhead_ratio"`
	// Transit is the part of Overhead of which it is not known whether it lies
	// before the execution: see Sample.Transit. It bounds the error of Overhead
	// as a measure of the wait before the execution, which is never less.
	Transit Distribution `json:"transit"`
	// Latency counts from the intended moment to the last byte.
	Latency Distribution `json:"latency"`
}

// Summarise boils samples down.
func Summarise(samples []Sample) Summary {
	return summarise(func(yield func(*Sample) bool) {
		for i := range samples {
			if !yield(&samples[i]) {
				return
			}
		}
	})
}

func summarise(samples iter.Seq[*Sample]) Summary {
	var s Summary
	var overheads, transits, latencies []time.Duration
	ratios := 0.0
	for sample := range samples {
		s.Requests++
		if sample.Err != nil {
			s.Errors++
			continue
		}
		*[]*int{&s.Cold, &s.Delayed, &s.Warm}[sample.kind()]++
		overhead := sample.Overhead()
		overheads = append(overheads, overhead)
		transits = append(transits, sample.Transit())
		latencies = append(latencies, sample.Latency)
		if total := overhead + sample.Exec; total > 0 {
			ratios += float64(overhead) / float64(total)
		}
	}
	s.Overhead, s.Transit, s.Latency = Describe(overheads), Describe(transits), Describe(latencies)
	if n := len(overheads); n > 0 {
		s.OverheadRatio = ratios / float64(n)
	}
	return s
}

// Describe sorts the durations and describes them. Quantiles are nearest-rank:
// the smallest value that at least the share q of all values does not exceed.
func Describe(values []time.Duration) Distribution {
	if len(values) == 0 {
		return Distribution{}
	}
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += float64(v)
	}
	return Distribution{
		N:    len(values),
		Mean: time.Duration(sum / float64(len(values))),
		P50:  quantile(values, 0.5),
		P99:  quantile(values, 0.99),
		Max:  values[len(values)-1],
	}
}

// quantile is nearest-rank: the smallest value that at least the share q of all
// values does not exceed.
func quantile[T any](sorted []T, q float64) T {
	rank := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}
