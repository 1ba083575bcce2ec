package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/bench"
)

// How long warm loads last.
const (
	warmup     = time.Second
	warmLength = 4 * time.Second
	warmRounds = 2 // worker and proxy in turn, so that both see the same machine
)

// warm checks what the worker adds to a request whose sandbox is there.
func (b *bencher) warm(ctx context.Context) (err error) {
	w, err := b.worker(ctx, "warm", "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	if err := w.installNamed(ctx, "echo", "echo"); err != nil {
		return err
	}
	target := bench.Target{Method: http.MethodPost, URL: w.node.url("/run/echo"), Body: benchBody}
	if err := b.warmOne(ctx, target); err != nil {
		return err
	}
	for _, connections := range []int{8, 32} {
		if err := b.warmMany(ctx, target, connections); err != nil {
			return err
		}
	}
	return nil
}

// warmOne compares one connection with what the request cannot do without: a
// round trip over loopback HTTP and one over the sandbox's socket.
func (b *bencher) warmOne(ctx context.Context, target bench.Target) error {
	floor, err := startChild(ctx, b.streams, "floor")
	if err != nil {
		return err
	}
	loop := bench.Closed(ctx, bench.Target{Method: http.MethodPost, URL: floor.url + "/", Body: benchBody}, 1, warmup, warmLength)
	if err := floor.stop(); err != nil {
		return err
	}
	raw, err := b.rawSocket(ctx)
	if err != nil {
		return err
	}
	out := bench.Closed(ctx, target, 1, warmup, warmLength)
	if out.Failures > 0 {
		return out.FirstFail
	}
	have, loopback := bench.Describe(out.Latencies), bench.Describe(loop.Latencies)
	b.add(bench.AtMost("warm, 1 connection, p50", bench.Ratio(have.Median, loopback.Median+raw.Median), 3, "x").
		With(have, fmt.Sprintf("against loopback %v + socket %v", loopback.Median.Round(time.Microsecond), raw.Median.Round(time.Microsecond))))
	return nil
}

// rawSocket measures round trips to a sandbox without any HTTP client.
func (b *bencher) rawSocket(ctx context.Context) (bench.Times, error) {
	dir := filepath.Join(b.dir, "raw")
	lambdaDir, err := unpackLambda(dir, "echo")
	if err != nil {
		return bench.Times{}, err
	}
	boxes, closeAll, err := bareSandboxes(ctx, dir, lambdaDir, 1)
	if err != nil {
		return bench.Times{}, err
	}
	conn, err := boxes[0].Dial(ctx)
	var times []time.Duration
	if err == nil {
		// Not on this goroutine: it is tied to a thread, which would cost.
		var elsewhere sync.WaitGroup
		elsewhere.Go(func() { times, err = bench.RawUnix(conn, benchBody, 5000) })
		elsewhere.Wait()
	}
	return bench.Describe(times), errors.Join(err, closeAll())
}

// warmMany compares several connections with a bare reverse proxy before as
// many sandboxes.
func (b *bencher) warmMany(ctx context.Context, target bench.Target, connections int) error {
	dir := filepath.Join(b.dir, fmt.Sprintf("proxy%d", connections))
	lambdaDir, err := unpackLambda(dir, "echo")
	if err != nil {
		return err
	}
	proxy, err := startChild(ctx, b.streams, "proxy", "--dir", dir, "--lambda", lambdaDir, "--sandboxes", fmt.Sprint(connections))
	if err != nil {
		return err
	}
	bare := bench.Target{Method: http.MethodPost, URL: proxy.url + "/run/echo", Body: benchBody}
	var ours, theirs bench.Outcome
	for range warmRounds {
		theirs.Add(bench.Closed(ctx, bare, connections, warmup, warmLength))
		ours.Add(bench.Closed(ctx, target, connections, warmup, warmLength))
	}
	if err := proxy.stop(); err != nil {
		return err
	}
	if fail := errors.Join(ours.FirstFail, theirs.FirstFail); fail != nil {
		return fail
	}
	have, floor := bench.Describe(ours.Latencies), bench.Describe(theirs.Latencies)
	name := fmt.Sprintf("warm, %d connections", connections)
	note := fmt.Sprintf("%.0f/s against a bare proxy's %.0f/s", ours.Rate(), theirs.Rate())
	b.add(
		bench.AtLeast(name+", throughput", ours.Rate()/theirs.Rate(), 0.8, "x").With(have, note),
		bench.AtMost(name+", p99", bench.Ratio(have.P99, floor.P99), 1.5, "x").With(have, "against a bare proxy's "+floor.P99.Round(time.Microsecond).String()),
	)
	return nil
}
