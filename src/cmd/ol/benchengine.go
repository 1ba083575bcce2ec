package main

import (
	"context"
	"math"
	"time"

	"github.com/open-lambda/open-lambda/src/bench"
)

// engine checks what one decision costs.
func (b *bencher) engine(context.Context) error {
	const settle, batches, decisions = 600_000, 5000, 3000
	step, err := bench.EngineStep(b.policy, settle, batches)
	if err != nil {
		return err
	}
	few, err := bench.EngineEvict(b.policy, 1000, decisions)
	if err != nil {
		return err
	}
	many, err := bench.EngineEvict(b.policy, 10_000, decisions)
	if err != nil {
		return err
	}
	micro := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
	b.add(
		bench.AtMost("engine step, 1,000 functions, 10,000 sandboxes", micro(step.Times.Median), 1, "us").With(step.Times, "median of batches"),
		// As go test does it: allocations divided by steps, rounded down, so
		// that the growth of a window now and then does not count.
		bench.AtMost("engine step, allocations", math.Floor(step.Allocs), 0, "").With(bench.Times{N: step.Times.N}, ""),
		bench.AtMost("eviction among 10,000 idle", micro(many.Median), 5, "us").With(many, ""),
		bench.AtMost("eviction, 1,000 to 10,000 idle", bench.Ratio(many.Median, few.Median), 2.5, "x").With(few, "against 1,000 idle"),
	)
	return nil
}
