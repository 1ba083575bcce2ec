package boss

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-lambda/open-lambda/boss/async"
	"github.com/open-lambda/open-lambda/boss/cron"
	"github.com/open-lambda/open-lambda/boss/fleet"
	"github.com/open-lambda/open-lambda/boss/join"
	"github.com/open-lambda/open-lambda/boss/route"
	"github.com/open-lambda/open-lambda/policies/placement"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/metrics"
)

// Boss is one boss.
type Boss struct {
	cfg     Config
	fleet   *fleet.Fleet
	router  *route.Router
	join    *join.Server
	async   *async.Service // nil: none
	cron    *cron.Cron     // nil: none
	configs *configs
	http    *http.Server
	mux     *http.ServeMux
	metrics *metrics.Boss
	closing atomic.Bool

	once sync.Once
	stop chan struct{} // closed by Shutdown
	done chan struct{} // closed when Run has returned
}

// New makes a boss. Run must be called.
func New(cfg Config) (*Boss, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	placer, err := placement.New(cfg.Placer, cfg.Seed)
	if err != nil {
		return nil, fmt.Errorf("make boss: %w", err)
	}
	b := &Boss{cfg: cfg, stop: make(chan struct{}), done: make(chan struct{})}
	b.configs = &configs{registry: cfg.Registry, log: cfg.Logger, known: map[string]decoded{}}
	if b.fleet, err = fleet.New(fleet.Config{Placer: placer, Logger: cfg.Logger}); err != nil {
		return nil, err
	}
	b.join = join.New(join.Config{Fleet: b.fleet, TLSOnly: cfg.TLSOnly, Logger: cfg.Logger})
	b.metrics = metrics.NewBoss(b.observed)
	b.router, err = route.New(route.Config{
		Fleet: b.fleet, Known: b.known(), Timeout: cfg.Timeout, MaxBody: cfg.MaxBody,
		TLS: cfg.TLS, Token: cfg.Token, Answered: b.metrics.Answered, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, err
	}
	if err := b.openAsync(); err != nil {
		return nil, err
	}
	b.routes()
	b.http = &http.Server{
		Handler: b, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug),
	}
	return b, nil
}

// known asks the registry, if there is one.
func (b *Boss) known() func(string) (string, bool) {
	if b.cfg.Registry == nil {
		return nil
	}
	return b.cfg.Registry.Known
}

// exists is known for those who want to know no more.
func (b *Boss) exists() func(string) bool {
	if b.cfg.Registry == nil {
		return nil
	}
	return b.cfg.Registry.Exists
}

// Addr is where the boss listens.
func (b *Boss) Addr() net.Addr { return b.cfg.Listener.Addr() }

// Ready tells whether the boss takes invocations.
func (b *Boss) Ready() bool { return !b.closing.Load() }

// Run serves until ctx ends, Shutdown is called or the listener fails; then
// running invocations may end.
func (b *Boss) Run(ctx context.Context) error {
	defer close(b.done)
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() { failed <- b.http.Serve(b.cfg.Listener) })
	if b.cfg.Registry != nil {
		wg.Go(func() { b.cfg.Registry.Follow(inner, b.changed) })
	}
	endTriggers := b.runTriggers(ctx)
	var err error
	select {
	case err = <-failed:
		err = fmt.Errorf("serve %s: %w", b.Addr(), err)
	case <-ctx.Done():
	case <-b.stop:
	}
	b.closing.Store(true)
	err = errors.Join(err, b.shutdown(endTriggers))
	cancel()
	wg.Wait()
	return err
}

// shutdown lets invocations end, those that nobody waits for too, then closes
// everything.
func (b *Boss) shutdown(endTriggers func()) error {
	ctx, cancel := context.WithTimeout(context.Background(), b.cfg.Drain)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(endTriggers)
	b.partWithClients(ctx)
	err := b.http.Shutdown(ctx)
	wg.Wait()
	if err != nil {
		err = errors.Join(fmt.Errorf("drain boss: %w", err), b.http.Close())
	}
	b.join.Close()
	b.router.Close()
	return err
}

// Shutdown makes Run drain and return, and waits for it or for ctx.
func (b *Boss) Shutdown(ctx context.Context) error {
	b.once.Do(func() { close(b.stop) })
	select {
	case <-b.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("shut down boss: %w", context.Cause(ctx))
	}
}

// changed tells every worker that lambdas have changed.
func (b *Boss) changed(names []string) { b.join.Broadcast(api.Notice{Changed: names}) }
