package replay

import (
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
	parts := make([][]Sample, len(w.Lambdas))
	for i := range samples {
		parts[samples[i].Request.Lambda] = append(parts[samples[i].Request.Lambda], samples[i])
	}
	var all []FunctionSummary
	for i, part := range parts {
		if len(part) == 0 {
			continue
		}
		s := Summarise(part)
		f := FunctionSummary{
			Name: w.Lambdas[i].Name, MemMB: w.Lambdas[i].MemMB, Requests: s.Requests,
			Cold: s.Cold, Delayed: s.Delayed, Warm: s.Warm, Errors: s.Errors, Latency: s.Latency,
		}
		f.P50, f.P99 = slowdowns(part)
		all = append(all, f)
	}
	return all
}

func slowdowns(part []Sample) (p50, p99 float64) {
	var all []float64
	for i := range part {
		if part[i].Err == nil && part[i].Request.Exec > 0 {
			all = append(all, part[i].Slowdown())
		}
	}
	if len(all) == 0 {
		return 0, 0
	}
	slices.Sort(all)
	return quantile(all, 0.5), quantile(all, 0.99)
}
