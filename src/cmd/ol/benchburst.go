package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/open-lambda/open-lambda/src/bench"
)

// referenceLoopback is the loopback round trip of the machine that the
// absolute bars were set on; a slower machine gets more time.
const referenceLoopback = 36 * time.Microsecond

// relax measures by how much absolute bars are stretched on this machine now.
func (b *bencher) relax(ctx context.Context) (float64, error) {
	out, err := bench.HTTPFloor(ctx, benchBody, time.Second)
	if err != nil {
		return 0, err
	}
	return bench.Relax(bench.Describe(out.Latencies).Median, referenceLoopback), nil
}

// atOnce calls targets at the same time and checks that all are answered, in
// time.
func (b *bencher) atOnce(ctx context.Context, name string, targets []bench.Target, limit time.Duration) error {
	relax, err := b.relax(ctx)
	if err != nil {
		return err
	}
	out := bench.Burst(ctx, targets)
	times := bench.Describe(out.Latencies)
	note := ""
	if out.FirstFail != nil {
		note = out.FirstFail.Error()
	}
	b.add(bench.AtLeast(name+", answered", float64(len(out.Latencies)), float64(len(targets)), "").With(times, note))
	if limit > 0 {
		b.add(bench.AtMost(name+", all answered", out.Elapsed.Seconds(), limit.Seconds()*relax, "s").With(times, fmt.Sprintf("relaxed %.2f times", relax)))
	}
	return nil
}

// calls are n requests of lambdas called prefix0, prefix1 and so on; or of one
// lambda, prefix, if distinct is false.
func calls(w *tempWorker, prefix string, n int, distinct bool, body string) []bench.Target {
	targets := make([]bench.Target, n)
	for i := range targets {
		name := prefix
		if distinct {
			name = fmt.Sprintf("%s%d", prefix, i)
		}
		targets[i] = bench.Target{Method: http.MethodPost, URL: w.node.url("/run/" + name), Body: body}
	}
	return targets
}

// burst checks that many calls at once are all answered.
func (b *bencher) burst(ctx context.Context) (err error) {
	w, err := b.worker(ctx, "burst", "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	const functions = 20
	if err := w.installMany(ctx, "first", "sleep", functions); err != nil {
		return err
	}
	for _, name := range []string{"slow200", "slow3000"} {
		if err := w.installNamed(ctx, name, "sleep"); err != nil {
			return err
		}
	}
	return errors.Join(
		b.atOnce(ctx, "20 first calls of 20 functions", calls(w, "first", functions, true, `{"ms": 0}`), 400*time.Millisecond),
		b.atOnce(ctx, "200 calls of a cold 100 ms function", calls(w, "slow200", 200, false, `{"ms": 100}`), 800*time.Millisecond),
		b.atOnce(ctx, "3,000 calls of a cold 100 ms function", calls(w, "slow3000", 3000, false, `{"ms": 100}`), 0),
	)
}

// pressure checks that calls wait for memory instead of being lost.
func (b *bencher) pressure(ctx context.Context) (err error) {
	const functions, fit, limitMB = 30, 10, 50
	w, err := b.worker(ctx, "pressure", fmt.Sprintf("mem_pool_mb=%d,limits.mem_mb=%d", fit*limitMB, limitMB))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	if err := w.installMany(ctx, "second", "sleep", functions); err != nil {
		return err
	}
	return b.atOnce(ctx, "30 calls of 1 s, memory for 10", calls(w, "second", functions, true, `{"ms": 1000}`), 4*time.Second)
}
