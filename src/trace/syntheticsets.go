package trace

import (
	"embed"
	"fmt"
	"time"
)

// The generated workloads that ship with the project, each with the record of
// its fit.
//
//go:embed data/workloads/*.json
var workloads embed.FS

// Generated lists the generated workloads that ship with the project.
func Generated() []string {
	return []string{"azure-like", "azure-like-faascache", "fc-like", "fc-like-faascache"}
}

// generated reads one of them.
func generated(name string) (Source, error) {
	path := "data/workloads/" + name + ".json"
	f, err := workloads.Open(path)
	if err != nil {
		return Source{}, fmt.Errorf("open workload: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	return readWorkload(path, f)
}

// AzureLike has the size of the paper's Azure sample. What it was calibrated to is in
// the Source of that name.
func AzureLike() Synthetic {
	s, err := generated("azure-like")
	if err != nil {
		panic("trace: " + err.Error()) // it ships with the program, and a test reads it
	}
	return *s.Synthetic
}

// Neutral is where a fit begins that must not know of another one: what the
// paper states of a sample (azure or fc: functions, requests, half an hour, a mean
// execution of 190 ms, cold start of 208 ms and memory of 448 MB), everything
// else in the middle of its range.
func Neutral(sample string) (Synthetic, error) {
	s := Synthetic{
		Functions: 330, Requests: 598_000, Span: 30 * time.Minute, ExecMean: 190 * time.Millisecond,
		Cold: 195 * time.Millisecond, ColdSigma: 0.2, ColdFunction: 0.3, MemMB: 448, // the mean is e^0.065 times the median
	}
	switch sample {
	case "azure":
	case "fc":
		s.Functions, s.Requests = 220, 410_000
	default:
		return s, fmt.Errorf("choose sample: the paper has azure and fc, not %q", sample)
	}
	for _, p := range Parameters() {
		if p.Free() {
			p.Set(&s, p.At(0.5))
		}
	}
	return s, nil
}
