package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/bench"
	"github.com/open-lambda/open-lambda/src/emulate"
)

// bossRounds is how often boss and bare proxy take turns, so that both see the
// same machine.
const bossRounds = 3

// bossBench is a boss before emulated workers, and a bare proxy before the same
// endpoints, each in a process of its own.
type bossBench struct {
	boss    *bossClient
	pid     int
	workers *child
	proxy   *child
}

func (x *bossBench) stop() error {
	var errs []error
	for _, c := range []*child{x.proxy, x.workers} {
		if c != nil {
			errs = append(errs, c.stop())
		}
	}
	endChild(x.pid)
	return errors.Join(errs...)
}

// startBossBench starts everything and waits until n workers have joined.
func (b *bencher) startBossBench(ctx context.Context, n int) (*bossBench, error) {
	dir := filepath.Join(b.dir, fmt.Sprintf("boss%d", n))
	started, err := spawnBoss(ctx, b.streams, dir, "boss_port=0", untilParentEnds)
	if err != nil {
		return nil, err
	}
	x := &bossBench{pid: started.PID}
	x.boss, err = newBossClient("http://localhost:"+started.Port, "", nil)
	if err == nil {
		x.workers, err = startChild(ctx, b.streams, "emulated", "--boss", x.boss.urls[0], "--workers", fmt.Sprint(n))
	}
	if err == nil {
		x.proxy, err = startChild(ctx, b.streams, "bareproxy", "--to", x.workers.url)
	}
	if err == nil {
		err = x.awaitWorkers(ctx, n)
	}
	if err != nil {
		return nil, errors.Join(err, x.stop())
	}
	return x, nil
}

func (x *bossBench) awaitWorkers(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var st api.BossStatus
		if err := x.boss.getJSON(ctx, api.PathStatus, &st); err == nil && st.State["running"] == n {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for %d workers: %w", n, ctx.Err())
		}
	}
}

// install registers so many lambdas, 16 at a time, and returns their targets.
func (x *bossBench) install(ctx context.Context, n int) (bench.Outcome, []bench.Target, error) {
	packed, err := packBuiltin("echo", nil)
	if err != nil {
		return bench.Outcome{}, nil, err
	}
	uploads, calls := make([]bench.Target, n), make([]bench.Target, n)
	for i := range uploads {
		name := fmt.Sprintf("f%d", i)
		uploads[i] = bench.Target{Method: http.MethodPost, URL: x.boss.urls[0] + api.PathRegistry + name, Body: string(packed)}
		calls[i] = bench.Target{Method: http.MethodPost, URL: x.boss.urls[0] + api.PathRun + name, Body: benchBody}
	}
	out := bench.Spread(ctx, uploads, 16)
	return out, calls, out.FirstFail
}

// bosses checks what a boss adds to a request, and that it does not add more
// with more workers.
func (b *bencher) bosses(ctx context.Context) (err error) {
	x, err := b.startBossBench(ctx, 3)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.stop()) }()
	registered, calls, err := x.install(ctx, 1500)
	if err != nil {
		return err
	}
	slow, err := b.relax(ctx)
	if err != nil {
		return err
	}
	b.add(bench.AtLeast("boss, registrations at 16", registered.Rate(), 600/slow, "/s").With(bench.Describe(registered.Latencies), "store.sync interval"))
	bench.Closed(ctx, calls[0], 16, 0, warmup) // connections are there before the first calls
	var first, again bench.Outcome
	for part := range slices.Chunk(calls[1:], len(calls)/bossRounds) { // in turn, so that both see the same machine
		first.Add(bench.Spread(ctx, part, 16))
		again.Add(bench.Spread(ctx, part, 16))
	}
	if err := errors.Join(first.FirstFail, again.FirstFail); err != nil {
		return err
	}
	b.add(bench.AtLeast("boss, first calls at 16", first.Rate()/again.Rate(), 0.9, "x").
		With(bench.Describe(first.Latencies), fmt.Sprintf("%.0f/s against %.0f/s of second calls", first.Rate(), again.Rate())))
	few, err := b.bossAgainstProxy(ctx, x)
	if err != nil {
		return err
	}
	return b.bossAtScale(ctx, few)
}

// bossAgainstProxy compares with a bare proxy; it returns the boss' CPU time
// for one request.
func (b *bencher) bossAgainstProxy(ctx context.Context, x *bossBench) (time.Duration, error) {
	ours := bench.Target{Method: http.MethodPost, URL: x.boss.urls[0] + api.PathRun + "f0", Body: benchBody}
	bare := bench.Target{Method: http.MethodPost, URL: x.proxy.url + api.PathRun + "f0", Body: benchBody}
	endpoint, _, _ := strings.Cut(x.workers.url, ",")
	direct := bench.Target{Method: http.MethodPost, URL: endpoint + api.PathRun + "f0", Body: benchBody}
	var one, oneBare, oneDirect, many, manyBare bench.Outcome
	var cpu, cpuBare time.Duration
	for range bossRounds {
		oneDirect.Add(bench.Closed(ctx, direct, 1, warmup/2, warmup))
		oneBare.Add(bench.Closed(ctx, bare, 1, warmup/2, warmup))
		one.Add(bench.Closed(ctx, ours, 1, warmup/2, warmup))
		o, c, err := closedWithCPU(ctx, bare, x.proxy.cmd.Process.Pid)
		if err != nil {
			return 0, err
		}
		manyBare.Add(o)
		cpuBare += c
		if o, c, err = closedWithCPU(ctx, ours, x.pid); err != nil {
			return 0, err
		}
		many.Add(o)
		cpu += c
	}
	if err := errors.Join(one.FirstFail, oneBare.FirstFail, oneDirect.FirstFail, many.FirstFail, manyBare.FirstFail); err != nil {
		return 0, err
	}
	have, proxied, floor := bench.Describe(one.Latencies), bench.Describe(oneBare.Latencies), bench.Describe(oneDirect.Latencies)
	each, eachBare := cpu/bossRounds, cpuBare/bossRounds
	b.add(
		bench.AtLeast("boss, 8 connections, throughput", many.Rate()/manyBare.Rate(), 0.9, "x").
			With(bench.Describe(many.Latencies), fmt.Sprintf("%.0f/s against a bare proxy's %.0f/s", many.Rate(), manyBare.Rate())),
		bench.AtMost("boss, 1 connection, its hop", bench.Ratio(have.Median-floor.Median, proxied.Median-floor.Median), 1.3, "x").
			With(have, fmt.Sprintf("through a bare proxy %v, without %v", proxied.Median.Round(time.Microsecond), floor.Median.Round(time.Microsecond))),
		bench.AtMost("boss, CPU per request", bench.Ratio(each, eachBare), 1.3, "x").
			With(bench.Times{}, fmt.Sprintf("%v against a bare proxy's %v", each.Round(time.Microsecond), eachBare.Round(time.Microsecond))),
	)
	return each, nil
}

// closedWithCPU measures a load at 8 connections, and the CPU time that a
// process spends on each request beyond what it spends when nobody asks,
// measured before and after.
func closedWithCPU(ctx context.Context, t bench.Target, pid int) (bench.Outcome, time.Duration, error) {
	calm, err := restingCPU(ctx, pid)
	if err != nil {
		return bench.Outcome{}, 0, err
	}
	before, err := bench.CPU(pid)
	if err != nil {
		return bench.Outcome{}, 0, err
	}
	out := bench.Closed(ctx, t, 8, 0, warmLength/2)
	after, err := bench.CPU(pid)
	if err != nil || len(out.Latencies) == 0 {
		return out, 0, errors.Join(err, out.FirstFail)
	}
	calmAgain, err := restingCPU(ctx, pid)
	if err != nil {
		return out, 0, err
	}
	busy := after - before - time.Duration((calm+calmAgain)/2*float64(out.Elapsed))
	return out, busy / time.Duration(len(out.Latencies)), nil
}

// restingCPU is the share of a core that a process uses when nobody asks. What
// it still has to do is waited for, within limits.
func restingCPU(ctx context.Context, pid int) (float64, error) {
	const tries, alike, little = 15, 0.25, 0.02
	last := -1.0
	for n := 1; ; n++ {
		begin := time.Now()
		before, err := bench.CPU(pid)
		if err != nil {
			return 0, err
		}
		select {
		case <-time.After(warmup / 2):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		after, err := bench.CPU(pid)
		if err != nil {
			return 0, err
		}
		share := float64(after-before) / float64(time.Since(begin))
		if n == tries || share <= little || last >= 0 && math.Abs(share-last) <= alike*last {
			return share, nil
		}
		last = share
	}
}

// manyWorkers is the size up to which a request must not cost more.
const manyWorkers = 5000

func (b *bencher) bossAtScale(ctx context.Context, few time.Duration) (err error) {
	x, err := b.startBossBench(ctx, manyWorkers)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.stop()) }()
	if _, _, err := x.install(ctx, 1); err != nil {
		return err
	}
	var sum time.Duration
	for range bossRounds {
		out, each, err := closedWithCPU(ctx, bench.Target{Method: http.MethodPost, URL: x.boss.urls[0] + api.PathRun + "f0", Body: benchBody}, x.pid)
		if err = errors.Join(err, out.FirstFail); err != nil {
			return err
		}
		sum += each
	}
	b.add(bench.AtMost(fmt.Sprintf("boss, CPU per request, 3 to %d workers", manyWorkers), bench.Ratio(sum/bossRounds, few), 1.3, "x").
		With(bench.Times{}, fmt.Sprintf("%v against %v; heartbeats subtracted", (sum/bossRounds).Round(time.Microsecond), few.Round(time.Microsecond))))
	return nil
}

func emulatedCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "emulated", Hidden: true, Usage: "run workers without sandboxes and print the first addresses",
		Flags: []cli.Flag{bossFlag(), tokenFlag(), &cli.IntFlag{Name: "workers", Value: 3}, &cli.DurationFlag{Name: "delay"}, &cli.DurationFlag{Name: "cold"}},
		Action: func(c *cli.Context) error {
			var urls []string
			for i := range c.Int("workers") {
				w, err := emulate.Start(emulate.Config{
					Name: fmt.Sprintf("e%d", i), Bosses: []string{c.String("boss")}, Delay: c.Duration("delay"), Cold: c.Duration("cold"),
				})
				if err != nil {
					return err
				}
				defer w.Kill()
				if len(urls) < 3 {
					urls = append(urls, w.URL())
				}
			}
			s.print("%s", strings.Join(urls, ","))
			var drain bytes.Buffer
			_, err := drain.ReadFrom(s.in)
			return err
		},
	}
}

func bareProxyCommand(s streams) *cli.Command {
	return &cli.Command{
		Name: "bareproxy", Hidden: true, Usage: "serve a bare reverse proxy before some addresses, in turn",
		Flags: []cli.Flag{&cli.StringFlag{Name: "to"}},
		Action: func(c *cli.Context) error {
			var to []*url.URL
			for t := range strings.SplitSeq(c.String("to"), ",") {
				u, err := url.Parse(t)
				if err != nil {
					return err
				}
				to = append(to, u)
			}
			var turn atomic.Int64
			return serveUntilEOF(s, &httputil.ReverseProxy{
				Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to[int(turn.Add(1))%len(to)]) },
				Transport: &http.Transport{MaxIdleConnsPerHost: 512, DisableCompression: true},
			})
		},
	}
}
