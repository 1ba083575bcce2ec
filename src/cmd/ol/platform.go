package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/open-lambda/open-lambda/src/config"
)

// localPlatform starts and stops workers on this machine, as
// /scaling/worker_count asks.
type localPlatform struct {
	streams streams
	dir     string
	options string
	limit   int
	log     *slog.Logger
	want    chan int
	wg      sync.WaitGroup
	cancel  context.CancelFunc
}

func newLocalPlatform(s streams, dir string, cfg config.Boss, log *slog.Logger) *localPlatform {
	scheme := "http"
	if cfg.TLSCert != "" {
		scheme = "https"
	}
	options := fmt.Sprintf("worker_port=0,cluster.bosses=%q", scheme+"://"+net.JoinHostPort(reachable(cfg.BossURL), cfg.BossPort))
	if cfg.TokenFile != "" {
		options += fmt.Sprintf(",cluster.token_file=%q", s.abs(cfg.TokenFile))
	}
	if cfg.TLSCert != "" {
		options += fmt.Sprintf(",cluster.ca_file=%q,cluster.cert_file=%q,cluster.key_file=%q", s.abs(cfg.TLSCert), s.abs(cfg.TLSCert), s.abs(cfg.TLSKey))
	}
	p := &localPlatform{streams: s, dir: dir, options: options, limit: cfg.WorkerCap, log: log, want: make(chan int, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	p.wg.Go(func() { p.run(ctx) })
	return p
}

// Scale is part of boss.Scaler.
func (p *localPlatform) Scale(n int) error {
	if n > p.limit {
		return fmt.Errorf("%d workers are more than worker_cap allows: %d", n, p.limit)
	}
	for {
		select {
		case p.want <- n:
			return nil
		case <-p.want: // an older wish
		}
	}
}

// close stops every worker.
func (p *localPlatform) close() error {
	p.cancel()
	p.wg.Wait()
	return nil
}

// run starts and stops workers, one at a time. The thread stays: the kernel
// interrupts the workers when it ends, so that a killed boss leaves none.
func (p *localPlatform) run(ctx context.Context) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var pids []int
	want := 0
	defer func() {
		for _, pid := range pids {
			endChild(pid)
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case want = <-p.want:
		}
		pids = p.reach(ctx, pids, want)
	}
}

// reach has as many workers as are wanted, if they start.
func (p *localPlatform) reach(ctx context.Context, pids []int, want int) []int {
	for len(pids) > want {
		endChild(pids[len(pids)-1])
		pids = pids[:len(pids)-1]
	}
	for len(pids) < want && ctx.Err() == nil {
		pid, err := p.start(ctx, len(pids))
		if err != nil {
			p.log.Warn("start worker", slog.Any("error", err))
			break
		}
		pids = append(pids, pid)
	}
	return pids
}

// start starts the i-th worker, in a directory of its own.
func (p *localPlatform) start(ctx context.Context, i int) (int, error) {
	dir := filepath.Join(p.dir, "workers", fmt.Sprint(i))
	if err := makeDir(dir); err != nil {
		return 0, err
	}
	log := filepath.Join(p.dir, "workers", fmt.Sprintf("%d.out", i))
	pid, err := spawn(p.streams, dir, p.options, log, untilParentEnds)
	if err != nil {
		return 0, err
	}
	if _, err := awaitReady(ctx, p.streams, dir, pid); err != nil {
		endChild(pid)
		return 0, fmt.Errorf("%w\n%s", err, tailOf(log, lastLines))
	}
	return pid, nil
}
