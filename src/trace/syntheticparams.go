package trace

import (
	"fmt"
	"math"
	"time"
)

// Parameter is a number that describes a Synthetic, under its name in files.
// Times are in ms.
type Parameter struct {
	Name string
	// Least and Most bound what a workload may have at all: beyond them it would not fit
	// into memory, or its times and sizes not into their types.
	Least, Most float64
	// Low and High bound what a fit may choose; both are 0 if it may not: the
	// paper states the value, or it follows from one that it states.
	Low, High float64
	Log       bool // the range is searched on a logarithmic scale
	Get       func(*Synthetic) float64
	Set       func(*Synthetic, float64)
}

// Free tells whether a fit may choose it.
func (p Parameter) Free() bool { return p.High > p.Low }

// At returns the value at a share of the range, from 0 to 1.
func (p Parameter) At(share float64) float64 {
	if p.Log {
		return p.Low * math.Pow(p.High/p.Low, share)
	}
	return p.Low + (p.High-p.Low)*share
}

// Share is the inverse of At.
func (p Parameter) Share(v float64) float64 {
	if p.Log {
		return math.Log(v/p.Low) / math.Log(p.High/p.Low)
	}
	return (v - p.Low) / (p.High - p.Low)
}

// check refuses what is out of bounds, NaN and infinities as well.
func (p Parameter) check(v float64) error {
	if v >= p.Least && v <= p.Most {
		return nil
	}
	return fmt.Errorf("%s is %v, not a number from %v to %v", p.Name, v, p.Least, p.Most)
}

// assign sets a value that is in bounds.
func (p Parameter) assign(s *Synthetic, v float64) error {
	if err := p.check(v); err != nil {
		return err
	}
	p.Set(s, v)
	return nil
}

func (p Parameter) bound(least, most float64) Parameter {
	p.Least, p.Most = least, most
	return p
}

func (p Parameter) within(low, high float64) Parameter {
	p.Low, p.High = low, high
	return p
}

func (p Parameter) log() Parameter {
	p.Log = true
	return p
}

func realOf(name string, field func(*Synthetic) *float64) Parameter {
	return Parameter{
		Name: name,
		Get:  func(s *Synthetic) float64 { return *field(s) },
		Set:  func(s *Synthetic, v float64) { *field(s) = v },
	}
}

func countOf(name string, field func(*Synthetic) *int) Parameter {
	return Parameter{
		Name: name,
		Get:  func(s *Synthetic) float64 { return float64(*field(s)) },
		Set:  func(s *Synthetic, v float64) { *field(s) = int(math.Round(v)) },
	}
}

func timeOf(name string, field func(*Synthetic) *time.Duration) Parameter {
	const ms = float64(time.Millisecond)
	return Parameter{
		Name: name,
		Get:  func(s *Synthetic) float64 { return float64(*field(s)) / ms },
		Set:  func(s *Synthetic, v float64) { *field(s) = time.Duration(math.Round(v * ms)) },
	}
}

// Bounds of parameters.
const (
	mostFunctions = 100_000
	mostRequests  = 20_000_000 // 32 bytes each while they are generated
	mostSigma     = 4
	mostColdSigma = 2   // each start draws from it: the longest must be a time.Duration
	mostColdMS    = 1e7 // the same
	mostSpanMS    = 1e9 // 11 days; of other times as well
)

// Parameters lists all of a Synthetic. The ranges are those that Draw takes
// from, so that a fit ends where workloads are still plausible.
func Parameters() []Parameter {
	return []Parameter{
		countOf("functions", func(s *Synthetic) *int { return &s.Functions }).bound(1, mostFunctions),
		countOf("requests", func(s *Synthetic) *int { return &s.Requests }).bound(1, mostRequests),
		timeOf("span_ms", func(s *Synthetic) *time.Duration { return &s.Span }).bound(1, mostSpanMS),
		realOf("zipf_s", func(s *Synthetic) *float64 { return &s.ZipfS }).bound(0, 10).within(0, 1.2),
		realOf("even", func(s *Synthetic) *float64 { return &s.Even }).bound(0, 1).within(0, 0.8),
		realOf("burst", func(s *Synthetic) *float64 { return &s.Burst }).bound(1e-3, 1e6).within(1.5, 12).log(),
		realOf("burst_sigma", func(s *Synthetic) *float64 { return &s.BurstSigma }).bound(0, mostSigma).within(0, 0.8),
		realOf("burst_function", func(s *Synthetic) *float64 { return &s.BurstFunction }).bound(0, mostSigma).within(0, 0.8),
		timeOf("burst_width_ms", func(s *Synthetic) *time.Duration { return &s.BurstWidth }).bound(1e-3, mostSpanMS).within(50, 3000).log(),
		realOf("gap_shape", func(s *Synthetic) *float64 { return &s.GapShape }).bound(1e-3, 1e6).within(0.5, 20).log(),
		timeOf("exec_mean_ms", func(s *Synthetic) *time.Duration { return &s.ExecMean }).bound(0, mostSpanMS),
		realOf("exec_sigma", func(s *Synthetic) *float64 { return &s.ExecSigma }).bound(0, mostSigma).within(0.3, 1.2),
		realOf("exec_function", func(s *Synthetic) *float64 { return &s.ExecFunction }).bound(0, mostSigma).within(0, 1),
		timeOf("exec_cap_ms", func(s *Synthetic) *time.Duration { return &s.ExecCap }).bound(0, mostSpanMS).within(400, 1600).log(),
		timeOf("cold_ms", func(s *Synthetic) *time.Duration { return &s.Cold }).bound(1e-3, mostColdMS),
		realOf("cold_sigma", func(s *Synthetic) *float64 { return &s.ColdSigma }).bound(0, mostColdSigma),
		realOf("cold_function", func(s *Synthetic) *float64 { return &s.ColdFunction }).bound(0, mostSigma),
		realOf("mem_mb", func(s *Synthetic) *float64 { return &s.MemMB }).bound(1e-3, maxMB),
		realOf("mem_sigma", func(s *Synthetic) *float64 { return &s.MemSigma }).bound(0, mostSigma).within(0, 0.8),
	}
}

// values returns the parameters by name.
func (s *Synthetic) values() map[string]float64 {
	all := map[string]float64{}
	for _, p := range Parameters() {
		all[p.Name] = p.Get(s)
	}
	return all
}

// newSynthetic reads parameters by name: all of them and no other.
func newSynthetic(values map[string]float64) (Synthetic, error) {
	var s Synthetic
	known := map[string]bool{}
	for _, p := range Parameters() {
		v, ok := values[p.Name]
		if !ok {
			return s, fmt.Errorf("read parameters: %s is missing", p.Name)
		}
		known[p.Name] = true
		if err := p.assign(&s, v); err != nil {
			return s, fmt.Errorf("read parameters: %w", err)
		}
	}
	for name := range values {
		if !known[name] {
			return s, fmt.Errorf("read parameters: there is none named %q", name)
		}
	}
	return s, s.check()
}

// Check tells what makes a workload impossible to generate.
func (s Synthetic) Check() error { return s.check() }

// First returns the workload with the same rates for its first minutes; 0, or
// more than it has, takes all of it.
func (s Synthetic) First(minutes int) Synthetic {
	span := minutesOf(minutes)
	if minutes <= 0 || span >= s.Span {
		return s
	}
	s.Requests = int(float64(s.Requests) * float64(span) / float64(s.Span))
	s.Span = span
	return s
}
