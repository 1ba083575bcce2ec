package replay

import (
	"iter"
	"slices"
)

// FunctionSummary is one function of a replay. Slowdown is latency over the
// execution that was asked for (Dirigent, SOSP'24).
type FunctionSummary struct {
	Name     string       `json:"name"`
	MemMB    int64        `json:"mem_mb"`
	Requests int          `json:"requests"`
	Cold     int          `json:"cold"`
	Delayed  int          `json:"delayed"`
	Warm     int          `json:"warm"`
	Errors   int          `json:"errors"`
	P50      float64      `json:"slowdown_p50"` // 0 if no execution was asked for
	P99      float64      `json:"slowdown_p99"`
	Latency  Distribution `json:"latency"`
}

// Functions summarises each function that was called, in the workload's order.
func Functions(w Workload, samples []Sample) []FunctionSummary {
	of := make([][]int, len(w.Lambdas)) // indices of its samples
	for i := range samples {
		of[samples[i].Request.Lambda] = append(of[samples[i].Request.Lambda], i)
	}
	var all []FunctionSummary
	for i, indices := range of {
		if len(indices) == 0 {
			continue
		}
		part := pick(samples, indices)
		s := summarise(part)
		f := FunctionSummary{
			Name: w.Lambdas[i].Name, MemMB: w.Lambdas[i].MemMB, Requests: s.Requests,
			Cold: s.Cold, Delayed: s.Delayed, Warm: s.Warm, Errors: s.Errors, Latency: s.Latency,
		}
		f.P50, f.P99 = slowdowns(part)
		all = append(all, f)
	}
	return all
}

// pick yields some of the samples.
func pick(samples []Sample, indices []int) iter.Seq[*Sample] {
	return func(yield func(*Sample) bool) {
		for _, i := range indices {
			if !yield(&samples[i]) {
				return
			}
		}
	}
}

func slowdowns(part iter.Seq[*Sample]) (p50, p99 float64) {
	var all []float64
	for s := range part {
		if s.Err == nil && s.Request.Exec > 0 {
			all = append(all, s.Slowdown())
		}
	}
	if len(all) == 0 {
		return 0, 0
	}
	slices.Sort(all)
	return quantile(all, 0.5), quantile(all, 0.99)
}
