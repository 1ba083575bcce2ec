package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/open-lambda/open-lambda/src/pause"
)

// notified runs a service and tells systemd, if that started us, that it is
// ready, that it stops, and as long as check succeeds that it lives.
func notified(ctx context.Context, log *slog.Logger, check func(context.Context) error, run func(context.Context) error) error {
	watched, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { tellSystemd(watched, log, check) })
	err := run(ctx)
	cancel()
	wg.Wait()
	return err
}

// readyPause is how long a service is given between two looks whether it is
// ready.
const readyPause = 50 * time.Millisecond

func tellSystemd(ctx context.Context, log *slog.Logger, check func(context.Context) error) {
	if told, err := daemon.SdNotify(false, ""); err != nil || !told {
		return // nobody listens
	}
	for check(ctx) != nil {
		if !pause.For(ctx, readyPause) {
			return
		}
	}
	notify(log, daemon.SdNotifyReady)
	defer notify(log, daemon.SdNotifyStopping)
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil || every == 0 {
		<-ctx.Done()
		return
	}
	for pause.For(ctx, every/3) {
		if err := check(ctx); err != nil {
			log.Warn("watchdog", slog.Any("error", err))
			continue
		}
		notify(log, daemon.SdNotifyWatchdog)
	}
}

func notify(log *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("notify systemd", slog.Any("error", err))
	}
}
