package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/open-lambda/open-lambda/src/bench"
)

// coldLength is how many cold starts are measured one after the other.
const coldLength = 40

// cold checks what the first request of a sandbox waits for.
func (b *bencher) cold(ctx context.Context) error {
	return errors.Join(b.firstCall(ctx), b.coldPool(ctx), b.coldFresh(ctx), b.coldRate(ctx))
}

// firstCall measures the very first request after a worker was started.
func (b *bencher) firstCall(ctx context.Context) (err error) {
	relax, err := b.relax(ctx)
	if err != nil {
		return err
	}
	var times []time.Duration
	for i := range 5 {
		one, err := b.firstCallOnce(ctx, i)
		if err != nil {
			return err
		}
		times = append(times, one)
	}
	have := bench.Describe(times)
	b.add(bench.AtMost("first call after start", have.Median.Seconds()*1000, 150*relax, "ms").
		With(have, fmt.Sprintf("relaxed %.2f times", relax)))
	return nil
}

func (b *bencher) firstCallOnce(ctx context.Context, i int) (_ time.Duration, err error) {
	w, err := b.worker(ctx, fmt.Sprintf("first%d", i), "")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	if err := w.installNamed(ctx, "echo", "echo"); err != nil {
		return 0, err
	}
	out := bench.Burst(ctx, calls(w, "echo", 1, false, benchBody))
	return out.Elapsed, out.FirstFail
}

// oneByOne calls lambdas for the first time, one after the other, with a pause
// in which the pool is filled up again.
func (b *bencher) oneByOne(ctx context.Context, w *tempWorker, prefix string, pause time.Duration) (bench.Times, error) {
	if err := w.installMany(ctx, prefix, "echo", coldLength); err != nil {
		return bench.Times{}, err
	}
	var times []time.Duration
	for _, target := range calls(w, prefix, coldLength, true, benchBody) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return bench.Times{}, ctx.Err()
		}
		out := bench.Burst(ctx, []bench.Target{{Method: http.MethodPost, URL: target.URL, Body: target.Body}})
		if out.FirstFail != nil {
			return bench.Times{}, out.FirstFail
		}
		times = append(times, out.Latencies...)
	}
	return bench.Describe(times), nil
}
