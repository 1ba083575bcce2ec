package validate

import (
	"fmt"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/src/replay"
)

// Causes are what the simulator does not know, as the replay saw it. They
// explain differences, and are no part of the comparison.
type Causes struct {
	// WarmWait is the overhead of warm requests: to be sent, to be connected, the
	// way there and back, and for a frozen sandbox to thaw; the simulator says 0.
	WarmWait replay.Distribution `json:"warm_wait"`
	// StartExtra is what a start took beyond its initialisation and what a
	// start took alone, before the replay. Where a lambda's initialisations vary
	// (replay.Lambda.InitSigma) it counts from their median, and its p99 has the
	// spread in it, which the simulator knows.
	StartExtra replay.Distribution `json:"start_extra"`
	// Vary says that initialisations vary.
	Vary bool `json:"starts_vary,omitempty"`
	// ExecExtra is what an execution took beyond what was asked for: the
	// sandbox is busy longer.
	ExecExtra replay.Distribution `json:"exec_extra"`
}

// Explain looks for the causes in the samples. Alone is what a start was
// measured to take besides the initialisation.
func Explain(w replay.Workload, samples []replay.Sample, alone time.Duration) Causes {
	var warm, start, exec []time.Duration
	for i := range samples {
		s := &samples[i]
		if s.Err != nil {
			continue
		}
		exec = append(exec, s.Exec-s.Request.Exec)
		switch s.Start {
		case "warm":
			warm = append(warm, s.Overhead())
		case "cold":
			start = append(start, s.Init-w.Lambdas[s.Request.Lambda].Init-alone)
		}
	}
	vary := slices.ContainsFunc(w.Lambdas, func(l replay.Lambda) bool { return l.InitSigma > 0 })
	return Causes{WarmWait: replay.Describe(warm), StartExtra: replay.Describe(start), Vary: vary, ExecExtra: replay.Describe(exec)}
}

// Sentences says the causes to a reader.
func (c Causes) Sentences() []string {
	line := func(format string, d replay.Distribution) string {
		return fmt.Sprintf(format, inMS(d.P50), inMS(d.P99))
	}
	starts := "A start took %.1f ms (p99 %.1f) beyond its initialisation and what a start took alone before; 0 in the simulator."
	if c.Vary {
		starts = "A start took %.1f ms (p99 %.1f) beyond the median initialisation of its function and what a start took alone before; initialisations vary, in the simulator too."
	}
	return []string{
		line("A warm request took %.1f ms (p99 %.1f) beside its execution: to be sent, there and back, and for its sandbox to thaw; 0 in the simulator.", c.WarmWait),
		line(starts, c.StartExtra),
		line("An execution took %.1f ms (p99 %.1f) longer than asked for, and its sandbox was busy so long; 0 in the simulator.", c.ExecExtra),
	}
}

// Claim is an ordering that must hold.
type Claim struct {
	Text     string  `json:"claim"`
	Measured float64 `json:"measured"` // cold ratio of the better minus that of the worse, percentage points
	Holds    bool    `json:"holds"`
}

// Placements says whether placing by function has fewer cold starts than
// round-robin, as measured, and whether the simulator orders all placers as
// reality does. Without the placers there is no claim.
func Placements(cases []Case, t Tolerance) []Claim {
	var claims []Claim
	robin := slices.IndexFunc(cases, func(c Case) bool { return c.Placer == "round-robin" })
	if robin < 0 {
		return nil
	}
	best, bestRatio := -1, 0.0
	for i := range cases {
		if c := &cases[i]; c.Placer == "hash" || c.Placer == "warm-first" {
			if have, _ := c.ColdRatio(); best < 0 || have < bestRatio {
				best, bestRatio = i, have
			}
		}
	}
	if best >= 0 {
		worse, _ := cases[robin].ColdRatio()
		claims = append(claims, Claim{
			Text:     fmt.Sprintf("hash or warm-first has fewer cold starts than round-robin (%s)", cases[best].Placer),
			Measured: 100 * (bestRatio - worse), Holds: bestRatio < worse,
		})
	}
	return append(claims, sameOrder(cases, t))
}

// sameOrder tells whether any two placers that the simulator tells apart stand
// in the same order in reality.
func sameOrder(cases []Case, t Tolerance) Claim {
	claim := Claim{Text: "the simulator orders the placers' cold ratios as the testbed does", Holds: true}
	for i := range cases {
		for j := range cases {
			a, simulatedA := cases[i].ColdRatio()
			b, simulatedB := cases[j].ColdRatio()
			if simulatedB-simulatedA > t.Order && a-b > t.Order {
				claim.Holds = false
				claim.Measured = max(claim.Measured, 100*(a-b))
			}
		}
	}
	return claim
}
