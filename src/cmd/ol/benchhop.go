package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/bench"
)

// hopRounds is how often the ways take turns.
const hopRounds = 4

// ways are three ways to one lambda in a sandbox: the worker itself, a boss
// before it, and a bare proxy in the boss' place.
type ways struct {
	worker, boss, bare bench.Target
	bossPID, barePID   int
}

// hops checks what a boss adds to a request that a Python sandbox answers,
// against what a bare proxy in its place adds.
func (b *bencher) hops(ctx context.Context) (err error) {
	started, err := spawnBoss(ctx, b.streams, filepath.Join(b.dir, "hop-boss"), "boss_port=0", untilParentEnds)
	if err != nil {
		return err
	}
	defer endChild(started.PID)
	x := &bossBench{pid: started.PID}
	address := "http://localhost:" + started.Port
	if x.boss, err = newBossClient(address, "", nil); err != nil {
		return err
	}
	w, err := b.worker(ctx, "hop-worker", fmt.Sprintf("cluster.bosses=%q,cluster.name=hop", address))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	if err := x.awaitWorkers(ctx, 1); err != nil {
		return err
	}
	packed, err := packBuiltin("echo", nil)
	if err != nil {
		return err
	}
	if _, err := upload(ctx, registryOf(x.boss), "echo", packed); err != nil {
		return err
	}
	proxy, err := startChild(ctx, b.streams, "bareproxy", "--to", strings.TrimSuffix(w.node.url(""), "/"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, proxy.stop()) }()
	to := func(url string) bench.Target {
		return bench.Target{Method: http.MethodPost, URL: url + api.PathRun + "echo", Body: benchBody}
	}
	return b.compareWays(ctx, ways{
		to(w.node.url("")), to(address), to(proxy.url), started.PID, proxy.cmd.Process.Pid,
	})
}

// compareWays takes the ways in turn, so that all see the same machine.
func (b *bencher) compareWays(ctx context.Context, x ways) error {
	var direct, through, bare bench.Outcome
	var cpu, cpuBare time.Duration
	for range hopRounds {
		direct.Add(bench.Closed(ctx, x.worker, 1, warmup/2, warmup))
		bare.Add(bench.Closed(ctx, x.bare, 1, warmup/2, warmup))
		through.Add(bench.Closed(ctx, x.boss, 1, warmup/2, warmup))
		out, each, err := closedWithCPU(ctx, x.bare, x.barePID)
		if err := errors.Join(err, out.FirstFail); err != nil {
			return err
		}
		cpuBare += each
		out, each, err = closedWithCPU(ctx, x.boss, x.bossPID)
		if err := errors.Join(err, out.FirstFail); err != nil {
			return err
		}
		cpu += each
	}
	if err := errors.Join(direct.FirstFail, through.FirstFail, bare.FirstFail); err != nil {
		return err
	}
	have, proxied, alone := bench.Describe(through.Latencies), bench.Describe(bare.Latencies), bench.Describe(direct.Latencies)
	b.add(
		bench.AtMost("boss before a Python sandbox, what it adds to p50", bench.Ratio(have.Median-alone.Median, proxied.Median-alone.Median), 1.3, "x").
			With(have, fmt.Sprintf("through a bare proxy %v, without %v", proxied.Median.Round(time.Microsecond), alone.Median.Round(time.Microsecond))),
		bench.AtMost("boss before a Python sandbox, CPU it adds", bench.Ratio(cpu, cpuBare), 1.3, "x").
			With(bench.Times{}, fmt.Sprintf("%v a request against a bare proxy's %v", (cpu/hopRounds).Round(time.Microsecond), (cpuBare/hopRounds).Round(time.Microsecond))),
	)
	return nil
}
