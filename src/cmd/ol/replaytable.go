package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/replay"
)

// printReplay prints what was measured beside what was predicted.
func printReplay(s streams, r *replayResult) {
	u, p := r.Summary, r.Predicted
	row := func(name, have, predicted string) {
		s.print("%s", strings.TrimRight(fmt.Sprintf("%-24s%16s%16s", name, have, predicted), " "))
	}
	share := func(n, of int) string { return fmt.Sprintf("%d (%.1f%%)", n, 100*float64(n)/float64(max(of, 1))) }
	row("", "measured", "simulated")
	row("requests", fmt.Sprint(u.Requests), fmt.Sprint(p.Requests))
	row("cold starts", share(u.Cold, u.Requests), share(p.Cold, p.Requests))
	row("delayed warm starts", share(u.Delayed, u.Requests), share(p.Delayed, p.Requests))
	row("warm starts", share(u.Warm, u.Requests), share(p.Warm, p.Requests))
	row("errors", fmt.Sprint(u.Errors), fmt.Sprint(p.Rejected))
	row("overhead mean", inMS(u.Overhead.Mean), inMS(p.Overhead.Mean))
	row("overhead p50", inMS(u.Overhead.P50), inMS(p.Overhead.P50))
	row("overhead p99", inMS(u.Overhead.P99), inMS(p.Overhead.P99))
	row("overhead ratio", fmt.Sprintf("%.1f%%", 100*u.OverheadRatio), fmt.Sprintf("%.1f%%", 100*p.OverheadRatio))
	row("of it transit p50", inMS(u.Transit.P50), "")
	row("of it transit p99", inMS(u.Transit.P99), "")
	row("latency p50", inMS(u.Latency.P50), "")
	row("latency p99", inMS(u.Latency.P99), "")
	if len(r.Spread.Workers) > 1 {
		row("balance (max/mean)", fmt.Sprintf("%.2f", r.Spread.MaxOfMean), fmt.Sprintf("%.2f", replay.MaxOfMean(p.PerNode)))
	}
	s.print("")
	s.prose("%d requests in %.1f s; issue drift %.2f %%, %.2f %% in the worst window of %.3g s; sent %s late at the median, %s at p99.",
		u.Requests, r.Seconds, 100*r.Drift.All, 100*r.Drift.Worst, r.Drift.Window.Seconds(), inMS(r.Drift.Late.P50), inMS(r.Drift.Late.P99))
	s.prose("overhead: latency from the intended moment of a request, less its execution as the worker reports it; ratio: mean of overhead / (overhead + execution). Transit is what neither waiting for a connection nor the worker's queue explains: the way there and back, HTTP, a boss; by so much at most is the overhead more than the wait before the execution. The simulator has no network, begins with an empty pool and knows nothing of other load on this machine (load %.1f, processors %.0f %% busy during the replay).",
		r.Environment.During.LoadMean, 100*max(r.Environment.During.CPUShare, 0))
	s.prose("Sent to %s: %s.", r.Target, r.Workers.sentence())
	if r.Scale != 1 {
		s.prose("Time was scaled by %.4g: arrivals, execution and initialisation.", r.Scale)
	}
	if !r.Complete {
		s.prose("The replay ended early: the figures are of the requests that were sent.")
	}
	if r.Note != "" {
		s.prose("%s.", r.Note)
	}
}

func inMS(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// slowest returns the n functions with the largest p99 of slowdown.
func slowest(all []replay.FunctionSummary, n int) []replay.FunctionSummary {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b replay.FunctionSummary) int { return cmp.Compare(b.P99, a.P99) })
	return sorted[:min(n, len(sorted))]
}
