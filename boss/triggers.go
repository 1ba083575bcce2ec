package boss

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"

	"github.com/open-lambda/open-lambda/boss/async"
	"github.com/open-lambda/open-lambda/src/lambda"
)

// openAsync makes the service of asynchronous invocations, if there is one.
func (b *Boss) openAsync() error {
	if b.cfg.Async == nil {
		return nil
	}
	cfg := *b.cfg.Async
	cfg.Run, cfg.Exists, cfg.Drain, cfg.Logger = b.router, b.exists(), b.cfg.Drain, b.cfg.Logger
	cfg.Retry = func(name string) lambda.Async { return b.configOf(name).Async }
	var err error
	b.async, err = async.New(cfg)
	return err
}

// runAsync runs what belongs to asynchronous invocations until end is called,
// which waits for those in progress.
func (b *Boss) runAsync(ctx context.Context) (end func()) {
	if b.async == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { b.async.Run(ctx) })
	return func() { cancel(); wg.Wait() }
}

// configOf is what the ol.yaml of a lambda says; the defaults if it is unknown.
func (b *Boss) configOf(name string) lambda.Config {
	c := lambda.Default()
	if b.cfg.Registry == nil {
		return c
	}
	f, ok := b.cfg.Registry.Get(name)
	if !ok {
		return c
	}
	if err := json.Unmarshal(f.Config, &c); err != nil {
		b.cfg.Logger.Warn("understand configuration", slog.String("function", name), slog.Any("error", err))
		return lambda.Default()
	}
	return c
}
