package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/sock/floor"
	"github.com/open-lambda/open-lambda/src/bench"
	"github.com/open-lambda/open-lambda/src/config"
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

// bare opens the bare mechanisms that cold starts are compared with. They
// import what the runtime imports, so that both weigh the same.
func (b *bencher) bare() (*floor.Zygote, error) {
	dir := filepath.Join(b.dir, "floor")
	return floor.Open("bench-"+instanceOf(b.dir), dir, "json", "selectors", "threading", "http.client")
}

// coldPool compares cold starts from the pool with children that were forked
// ahead and do nothing but what the kernel demands.
func (b *bencher) coldPool(ctx context.Context) (err error) {
	w, err := b.worker(ctx, "pool", "pool_size=4")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	have, err := b.oneByOne(ctx, w, "pool", 150*time.Millisecond)
	if err != nil {
		return err
	}
	parked, err := b.bareTimes((*floor.Zygote).Parked)
	if err != nil {
		return err
	}
	b.add(bench.AtMost("cold start from the pool, p50", bench.Ratio(have.Median, parked.Median), 1.6, "x").
		With(have, "against a bare pre-forked child's "+parked.Median.Round(10*time.Microsecond).String()))
	return nil
}

// bareTimes repeats a measurement of the bare mechanisms.
func (b *bencher) bareTimes(measure func(*floor.Zygote) (time.Duration, error)) (_ bench.Times, err error) {
	z, err := b.bare()
	if err != nil {
		return bench.Times{}, err
	}
	defer func() { err = errors.Join(err, z.Close()) }()
	times := make([]time.Duration, coldLength)
	for i := range times {
		if times[i], err = measure(z); err != nil {
			return bench.Times{}, err
		}
	}
	return bench.Describe(times), nil
}

// coldFresh compares cold starts without zygote and pool with a bare python3
// in the same root, with the same imports.
func (b *bencher) coldFresh(ctx context.Context) (err error) {
	w, err := b.worker(ctx, "fresh", "features.import_cache=,pool_size=0")
	if err != nil {
		return err
	}
	have, err := b.oneByOne(ctx, w, "fresh", 10*time.Millisecond)
	if err := errors.Join(err, w.stop()); err != nil {
		return err
	}
	python, err := b.barePython(ctx)
	if err != nil {
		return err
	}
	b.add(bench.AtMost("cold start without zygote and pool, p50", bench.Ratio(have.Median, python.Median), 1.5, "x").
		With(have, "against a bare python3's "+python.Median.Round(100*time.Microsecond).String()))
	return nil
}

func (b *bencher) barePython(ctx context.Context) (_ bench.Times, err error) {
	dir := filepath.Join(b.dir, "python")
	cfg := config.New(dir, leastPoolMB)
	cfg.PoolSize, cfg.Features.ImportCache = 0, ""
	p, err := sock.New(sockConfig(node{dir, cfg}, slog.New(slog.DiscardHandler)))
	if err != nil {
		return bench.Times{}, err
	}
	defer func() { err = errors.Join(err, p.Close(context.WithoutCancel(ctx))) }()
	times := make([]time.Duration, coldLength)
	for i := range times {
		if times[i], err = p.BarePython(ctx); err != nil {
			return bench.Times{}, err
		}
	}
	return bench.Describe(times), nil
}

// coldRounds is how often sustained cold starts and bare forks take turns, for
// both to see the same machine.
const coldRounds = 3

// coldRate compares cold starts of distinct functions, several at a time, with
// bare forks of a zygote into namespaces and a cgroup.
func (b *bencher) coldRate(ctx context.Context) (err error) {
	const functions, atOnce = 150, 8
	w, err := b.worker(ctx, "rate", "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	if err := w.installMany(ctx, "rate", "echo", functions); err != nil {
		return err
	}
	z, err := b.bare()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, z.Close()) }()
	targets := calls(w, "rate", functions, true, benchBody)
	var ours bench.Outcome
	var bare, kernel time.Duration
	for round := range coldRounds {
		const n = functions / coldRounds
		ours.Add(bench.Spread(ctx, targets[round*n:(round+1)*n], atOnce))
		if err := errors.Join(ours.FirstFail, forkTime(z, false, n, atOnce, &bare), forkTime(z, true, n, atOnce, &kernel)); err != nil {
			return err
		}
	}
	rate := functions / bare.Seconds()
	b.add(bench.AtLeast("sustained cold starts", ours.Rate()/rate, 0.75, "x").
		With(bench.Describe(ours.Latencies), fmt.Sprintf("%.0f/s against %.0f/s bare forks, %.0f/s without HTTP", ours.Rate(), rate, functions/kernel.Seconds())))
	return nil
}

// forkTime adds to sum what n bare forks take; constant is floor.Zygote's.
func forkTime(z *floor.Zygote, constant bool, n, atOnce int, sum *time.Duration) error {
	z.Constant = constant
	rate, err := z.Rate(n, atOnce)
	if err != nil {
		return err
	}
	*sum += time.Duration(float64(n) / rate * float64(time.Second))
	return nil
}
