package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/replay"
)

// demoResult is what one policy did.
type demoResult struct {
	Policy    string            `json:"policy"`
	Summary   replay.Summary    `json:"summary"`
	Predicted replay.Prediction `json:"predicted"`
	Evictions int               `json:"evictions"`
	PeakMB    int               `json:"peak_mb"`
	Seconds   float64           `json:"seconds"`
}

// printDemo prints one column for each policy.
func printDemo(s streams, p demoPlan, results []demoResult) {
	row := func(name string, cell func(demoResult) string) {
		var line strings.Builder
		fmt.Fprintf(&line, "%-24s", name)
		for _, r := range results {
			fmt.Fprintf(&line, "%14s", cell(r))
		}
		s.print("%s", strings.TrimRight(line.String(), " "))
	}
	number := func(of func(demoResult) int) func(demoResult) string {
		return func(r demoResult) string { return fmt.Sprint(of(r)) }
	}
	ms := func(of func(replay.Summary) time.Duration) func(demoResult) string {
		return func(r demoResult) string {
			return fmt.Sprintf("%.1f ms", float64(of(r.Summary))/float64(time.Millisecond))
		}
	}
	share := func(of func(replay.Summary) int) func(demoResult) string {
		return func(r demoResult) string {
			n := of(r.Summary)
			return fmt.Sprintf("%d (%.1f%%)", n, 100*float64(n)/float64(max(r.Summary.Requests, 1)))
		}
	}
	row("", func(r demoResult) string { return r.Policy })
	row("requests", number(func(r demoResult) int { return r.Summary.Requests }))
	row("cold starts", share(func(u replay.Summary) int { return u.Cold }))
	row("delayed warm starts", share(func(u replay.Summary) int { return u.Delayed }))
	row("warm starts", share(func(u replay.Summary) int { return u.Warm }))
	row("overhead mean", ms(func(u replay.Summary) time.Duration { return u.Overhead.Mean }))
	row("overhead p50", ms(func(u replay.Summary) time.Duration { return u.Overhead.P50 }))
	row("overhead p99", ms(func(u replay.Summary) time.Duration { return u.Overhead.P99 }))
	row("overhead ratio", func(r demoResult) string { return fmt.Sprintf("%.1f%%", 100*r.Summary.OverheadRatio) })
	row("evictions", number(func(r demoResult) int { return r.Evictions }))
	row("peak memory", func(r demoResult) string { return fmt.Sprintf("%d MB", r.PeakMB) })
	row("errors", number(func(r demoResult) int { return r.Summary.Errors }))
	s.print("")
	s.print("overhead: latency from the intended moment of a request, less its execution;")
	s.print("ratio: mean of overhead / (overhead + execution). Initialisation costs 1.7 ms per MB.")
	if p.stretch != 1 {
		s.print("Time was stretched %.2f times: arrivals, execution, initialisation, policy.", p.stretch)
	}
	s.print("Trace: Azure Functions 2019 (Shahrad et al., ATC'20), CC-BY 4.0.")
}
