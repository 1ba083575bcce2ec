package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/bench"
)

// exposed are the options of a worker with everything switched off that keeps
// strangers' code apart and that can be: the same build without its hardening.
const exposed = "features.user_namespaces=false,features.enable_seccomp=false,network=host"

// isolationPause lets pools fill up again.
const isolationPause = 150 * time.Millisecond

// isolation checks what the hardening costs: cold starts from the pool and
// from a zygote, and warm calls.
func (b *bencher) isolation(ctx context.Context) error {
	return errors.Join(
		b.hardened(ctx, "pool", "pool_size=4", b.hardenedCold),
		b.hardened(ctx, "zygote", "pool_size=0", b.hardenedCold),
		b.hardened(ctx, "warm", "", b.hardenedWarm),
	)
}

// hardened runs a measurement on two workers that differ in their hardening.
func (b *bencher) hardened(ctx context.Context, name, options string, measure func(context.Context, string, [2]*tempWorker) error) error {
	return b.withPair(ctx, "isolation-"+name, [2]string{options, strings.TrimPrefix(options+","+exposed, ",")}, func(pair [2]*tempWorker) error {
		return measure(ctx, name, pair)
	})
}

// withPair measures two workers that differ in their options.
func (b *bencher) withPair(ctx context.Context, name string, options [2]string, measure func([2]*tempWorker) error) (err error) {
	var pair [2]*tempWorker
	for i := range pair {
		w, err := b.worker(ctx, fmt.Sprintf("%s%d", name, i), options[i])
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.stop()) }()
		pair[i] = w
	}
	return measure(pair)
}

func (b *bencher) hardenedCold(ctx context.Context, name string, pair [2]*tempWorker) error {
	times, err := coldInTurn(ctx, name, pair)
	if err != nil {
		return err
	}
	b.compareHardened("isolation, cold start from the "+name+", p50", 1.3, times)
	return nil
}

// coldInTurn measures first calls, one on either worker in turn.
func coldInTurn(ctx context.Context, name string, pair [2]*tempWorker) (times [2][]time.Duration, err error) {
	var targets [2][]bench.Target
	for i, w := range pair {
		if err := w.installMany(ctx, name, "echo", 2*coldLength); err != nil {
			return times, err
		}
		targets[i] = calls(w, name, 2*coldLength, true, benchBody)
	}
	for n := range targets[0] {
		for i := range pair {
			which := (n + i) % 2 // neither is always the first
			select {
			case <-time.After(isolationPause / 2):
			case <-ctx.Done():
				return times, ctx.Err()
			}
			out := bench.Burst(ctx, targets[which][n:n+1])
			if out.FirstFail != nil {
				return times, out.FirstFail
			}
			times[which] = append(times[which], out.Latencies...)
		}
	}
	return times, nil
}

func (b *bencher) hardenedWarm(ctx context.Context, name string, pair [2]*tempWorker) error {
	times, err := warmInTurn(ctx, name, pair)
	if err != nil {
		return err
	}
	// "No cost" with room for what differs between two workers alike.
	b.compareHardened("isolation, warm call, p50", 1.05, times)
	return nil
}

// warmInTurn measures warm calls over one connection, on either worker in turn.
func warmInTurn(ctx context.Context, name string, pair [2]*tempWorker) (times [2][]time.Duration, err error) {
	for _, w := range pair {
		if err := w.installNamed(ctx, name, "echo"); err != nil {
			return times, err
		}
	}
	for round := range 6 {
		for i := range pair {
			which := (round + i) % 2
			target := bench.Target{Method: http.MethodPost, URL: pair[which].node.url("/run/" + name), Body: benchBody}
			out := bench.Closed(ctx, target, 1, warmup/2, warmLength/4)
			if out.Failures > 0 {
				return times, out.FirstFail
			}
			times[which] = append(times[which], out.Latencies...)
		}
	}
	return times, nil
}

func (b *bencher) compareHardened(name string, limit float64, times [2][]time.Duration) {
	with, without := bench.Describe(times[0]), bench.Describe(times[1])
	b.add(bench.AtMost(name, bench.Ratio(with.Median, without.Median), limit, "x").
		With(with, "against "+without.Median.Round(time.Microsecond).String()+" with it switched off"))
}
