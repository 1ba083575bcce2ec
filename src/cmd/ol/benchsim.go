package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/src/bench"
)

// simulator checks what a simulation costs.
func (b *bencher) simulator(ctx context.Context) error {
	const least, timesPrepare, growth = 600_000, 6, 11
	even, err := bench.Simulate(ctx, b.policy, 0)
	if err != nil {
		return err
	}
	uneven, err := bench.Simulate(ctx, b.policy, 1)
	if err != nil {
		return err
	}
	short, err := b.simulateShort(ctx)
	if err != nil {
		return err
	}
	long, err := bench.SimulateLong(ctx, b.policy, 10)
	if err != nil {
		return err
	}
	slow := b.slowness()
	runs := func(s bench.Simulation) (bench.Times, string) {
		return bench.Times{N: int(s.Requests), Median: s.Measured, P99: s.Whole},
			fmt.Sprintf("read, expand, sort: %v; median is the measured pass, p99 both passes", s.Prepare.Round(time.Millisecond))
	}
	for _, s := range []struct {
		name string
		run  bench.Simulation
	}{{"even", even}, {"uneven (sigma 1)", uneven}} {
		times, note := runs(s.run)
		b.add(
			bench.AtLeast("simulate S2 at 100 GB, "+s.name, s.run.Rate(), least/slow, "req/s").With(times, note),
			bench.AtMost("... against read + expand + sort", bench.Ratio(s.run.Measured, s.run.Prepare), timesPrepare, "x").With(times, note),
		)
	}
	b.add(
		bench.AtMost("simulate 10x the requests: time", bench.Ratio(long.Elapsed, short.Elapsed), growth, "x").
			With(bench.Times{N: int(long.Requests), Median: long.Elapsed}, fmt.Sprintf("against %v, caches and windows full", short.Elapsed.Round(time.Millisecond))),
		bench.AtMost("simulate 10x the requests: heap", long.PeakMB/short.PeakMB, heapGrowth, "x").
			With(bench.Times{N: int(long.Requests)}, fmt.Sprintf("%.1f against %.1f MB", long.PeakMB, short.PeakMB)),
	)
	return nil
}

// simulateShort is the middle of three runs over one S2: a second is short
// enough for a hiccup to matter.
func (b *bencher) simulateShort(ctx context.Context) (bench.Growth, error) {
	var runs []bench.Growth
	for range 3 {
		g, err := bench.SimulateLong(ctx, b.policy, 1)
		if err != nil {
			return g, err
		}
		runs = append(runs, g)
	}
	slices.SortFunc(runs, func(a, b bench.Growth) int { return cmp.Compare(a.Elapsed, b.Elapsed) })
	return runs[1], nil
}

// heapGrowth leaves room for windows that half an hour does not fill.
const heapGrowth = 1.3

// referenceSpin is what bench.Fingerprint.SpinMS is on the machine that the
// bars were set on, when it is quiet.
const referenceSpin = 190

// slowness is how much slower one core is now than the reference.
func (b *bencher) slowness() float64 {
	return max(1, bench.TakeFingerprint().SpinMS/referenceSpin)
}
