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
	even, err := b.simulate(ctx, 0)
	if err != nil {
		return err
	}
	uneven, err := b.simulate(ctx, 1)
	if err != nil {
		return err
	}
	short, long, err := b.simulateGrowth(ctx)
	if err != nil {
		return err
	}
	runs := func(s bench.Simulation) (bench.Times, string) {
		return bench.Times{N: int(s.Requests), Median: s.Measured, P99: s.Whole},
			fmt.Sprintf("read, expand, sort: %v; median is the measured pass, p99 both passes", s.Prepare.Round(time.Millisecond))
	}
	for _, s := range []struct {
		name string
		run  middleRun
	}{{"even", even}, {"uneven (sigma 1)", uneven}} {
		times, note := runs(s.run.Simulation)
		b.add(
			bench.AtLeast("simulate S2 at 100 GB, "+s.name, s.run.Rate(), least/s.run.slow, "req/s").With(times, note),
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

// middleRun is the middle of three simulations, and how much slower than the
// reference the machine was beside it.
type middleRun struct {
	bench.Simulation
	slow float64
}

func (b *bencher) simulate(ctx context.Context, sigma float64) (middleRun, error) {
	var runs []middleRun
	for range 3 {
		slow := b.slowness()
		s, err := bench.Simulate(ctx, b.policy, sigma)
		if err != nil {
			return middleRun{}, err
		}
		runs = append(runs, middleRun{s, max(slow, b.slowness())})
	}
	slices.SortFunc(runs, func(a, b middleRun) int { return cmp.Compare(a.Rate()*a.slow, b.Rate()*b.slow) })
	return runs[1], nil
}

// simulateGrowth runs over ten times S2, and over one S2 before and after it,
// of which it takes the middle: the machine's speed changes within a minute.
func (b *bencher) simulateGrowth(ctx context.Context) (short, long bench.Growth, err error) {
	var shorts []bench.Growth
	for i := range 7 {
		if i == 3 {
			if long, err = bench.SimulateLong(ctx, b.policy, 10); err != nil {
				return short, long, err
			}
		}
		g, err := bench.SimulateLong(ctx, b.policy, 1)
		if err != nil {
			return short, long, err
		}
		shorts = append(shorts, g)
	}
	slices.SortFunc(shorts, func(a, b bench.Growth) int { return cmp.Compare(a.Elapsed, b.Elapsed) })
	return shorts[len(shorts)/2], long, nil
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
