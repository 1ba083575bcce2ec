package boss

import (
	"context"
	"sync"

	"github.com/open-lambda/open-lambda/boss/async"
	"github.com/open-lambda/open-lambda/boss/cron"
	"github.com/open-lambda/open-lambda/src/lambda"
)

// openAsync makes the service of asynchronous invocations, if there is one.
func (b *Boss) openAsync() error {
	if b.cfg.Async == nil {
		return nil
	}
	cfg := *b.cfg.Async
	cfg.Run, cfg.Exists, cfg.Drain, cfg.Logger = b.router, b.exists(), b.cfg.Drain, b.cfg.Logger
	cfg.Retry = func(name string) lambda.Async { return b.configs.of(name).Async }
	var err error
	if b.async, err = async.New(cfg); err != nil {
		return err
	}
	b.cron, err = cron.New(cron.Config{Triggers: b.configs.schedules, Take: b.takeTick, Now: b.cfg.Now, Logger: b.cfg.Logger})
	return err
}

// takeTick makes an asynchronous invocation of a tick, unless another boss has.
func (b *Boss) takeTick(ctx context.Context, t cron.Tick) error {
	job, key := t.Job()
	_, err := b.async.Enqueue(ctx, job, key)
	return err
}

// read waits until the lambdas are known, and with them how often each is
// tried; false if ctx ends before. Without the store there is no work either.
func (b *Boss) read(ctx context.Context) bool {
	if b.cfg.Registry == nil {
		return true
	}
	select {
	case <-b.cfg.Registry.Synced():
		return true
	case <-ctx.Done():
		return false
	}
}

// runTriggers runs what makes invocations that no client waits for until end is
// called, which waits for those in progress.
func (b *Boss) runTriggers(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		if !b.read(ctx) {
			return
		}
		wg.Go(func() { b.assignKafka(ctx) })
		if b.async != nil {
			wg.Go(func() { b.cron.Run(ctx) })
			b.async.Run(ctx)
		}
	})
	return func() { cancel(); wg.Wait() }
}
