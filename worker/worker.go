package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
	"github.com/open-lambda/open-lambda/src/metrics"
	"github.com/open-lambda/open-lambda/worker/code"
	"github.com/open-lambda/open-lambda/worker/dispatch"
	"github.com/open-lambda/open-lambda/worker/events"
	"github.com/open-lambda/open-lambda/worker/invoke"
	"github.com/open-lambda/open-lambda/worker/logs"
	"github.com/open-lambda/open-lambda/worker/packages"
	"github.com/open-lambda/open-lambda/worker/registry"
	"github.com/open-lambda/open-lambda/worker/server"
	"github.com/open-lambda/open-lambda/worker/sockmode"
)

// Worker is one node.
type Worker struct {
	cfg        Config
	tcp, local net.Listener
	registry   Registry
	logs       *logs.Store
	metrics    *metrics.Metrics
	events     events.Log
	dispatcher *dispatch.Dispatcher
	functions  *functions
	server     *server.Server
	bare       *sockmode.Server // nil: lambdas are served
	closing    atomic.Bool
	draining   atomic.Bool // a boss wishes so

	stop chan struct{} // closed by Shutdown
	once sync.Once
	done chan struct{} // closed when Run has returned
}

// New makes a worker that listens already. Run must be called: it serves, and
// releases everything when its context ends. After an error the caller closes
// the provider, for which a second Close must be harmless.
func New(cfg Config) (*Worker, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	w := &Worker{cfg: cfg, stop: make(chan struct{}), done: make(chan struct{})}
	built := &undoList{}
	defer built.run()
	for _, step := range []func(*undoList) error{w.openDirs, w.openRegistry, w.openListeners, w.openDispatcher, w.openBare, w.openServer, w.openKafka} {
		if err := step(built); err != nil {
			return nil, err
		}
	}
	built.release()
	return w, nil
}

// openDirs makes the directories and removes what a killed predecessor left
// in them.
func (w *Worker) openDirs(u *undoList) error {
	scratch := w.cfg.dir("uploads")
	if err := os.RemoveAll(scratch); err != nil {
		return fmt.Errorf("clean worker_dir: %w", err)
	}
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return fmt.Errorf("make worker_dir: %w", err)
	}
	if !w.cfg.Settings.LogOutput {
		return nil
	}
	l, err := logs.Open(logs.Config{Dir: w.cfg.dir(api.LogDir), Max: int64(w.cfg.Settings.LogMaxMB) << 20, Fault: w.cfg.Fault})
	if err != nil {
		return err
	}
	w.logs = l
	u.add(func() { w.warn("close logs", l.Close()) })
	return nil
}

func (w *Worker) openRegistry(u *undoList) error {
	if w.cfg.Registry != nil {
		w.registry = w.cfg.Registry
		return nil
	}
	r, err := registry.Open(context.Background(), w.cfg.Settings.Registry, w.cfg.Logger)
	if err != nil {
		return err
	}
	w.registry = r
	u.add(func() { w.warn("close registry", r.Close()) })
	return nil
}

func (w *Worker) openDispatcher(u *undoList) error {
	eng, err := engine.New(w.cfg.engine())
	if err != nil {
		return err
	}
	w.metrics = metrics.New(w.cfg.Policy.Name, func() metrics.Node { return w.node(eng) })
	s := &w.cfg.Settings
	w.dispatcher, err = dispatch.New(dispatch.Config{
		Engine: eng, Provider: w.cfg.Provider, Observer: newObserver(w.metrics, w.cfg.Logger), Logger: w.cfg.Logger, Events: &w.events,
		Prefix: "s", PoolMB: int64(s.MemPoolMB), Freeze: millis(s.FreezeGraceMS), Queue: millis(s.QueueTimeoutMS),
	})
	if err != nil {
		return err
	}
	u.add(func() { w.warn("close dispatcher", w.dispatcher.Close(context.Background())) })
	w.functions = &functions{calls: invoke.NewDesk(nil), settings: s, dispatcher: w.dispatcher, metrics: w.metrics, logs: w.logs}
	pulled := w.metrics.Tally.Count(api.StatPull)
	w.functions.packages = packages.New(w.packages())
	u.add(func() { w.warn("close packages", w.functions.packages.Close()) })
	w.functions.cache, err = code.New(code.Config{
		Source: w.registry, Dir: w.cfg.dir("code"), Fresh: millis(s.RegistryCacheMS), Limits: archive.DefaultLimits(),
		Logger: w.cfg.Logger, Fault: w.cfg.Fault, Pulled: func(took time.Duration) { pulled.Add(took) }, Gone: w.functions.gone,
	})
	if err != nil {
		return err
	}
	u.add(w.functions.cache.Close)
	return nil
}

// installers is how many packages are installed at the same time, at least.
const installers = 2

// packages says how packages are installed. The counter is shown from the
// start, for tools read it.
func (w *Worker) packages() packages.Config {
	s := &w.cfg.Settings
	installed := w.metrics.Tally.Count(api.StatPackage)
	return packages.Config{
		Dir: s.PkgsDir, Runner: w.cfg.Runner, Index: w.cfg.Index, Limits: s.InstallerLimits.Inherit(s.Limits),
		MaxBytes: int64(s.PkgsMaxMB) << 20, AtOnce: max(installers, runtime.GOMAXPROCS(0)), Patience: max(millis(s.RegistryCacheMS), time.Second),
		Logger: w.cfg.Logger, Installed: func(took time.Duration) { installed.Add(took) },
	}
}

func (w *Worker) openServer(*undoList) error {
	w.server = server.New(server.Config{
		Calls: w.functions.calls, Worker: w.cfg.name(w.tcp.Addr()), Lambdas: w.functions, Dispatcher: w.debugged(), Registry: w.registry,
		Metrics: w.metrics, Stats: w.stats, Events: &w.events, Closing: w.closing.Load,
		Allowed: func(c *lambda.Config) error { return c.CheckBounds(&w.cfg.Settings) },
		MaxBody: int64(w.cfg.Settings.MaxBodyMB) << 20, Scratch: w.cfg.dir("uploads"), Alone: w.cfg.Registry == nil,
		Limits: archive.DefaultLimits(), Logger: w.cfg.Logger, Fault: w.cfg.Fault,
	})
	w.functions.calls.Serve(w.server)
	return nil
}

// Addr is the TCP address that the worker listens on.
func (w *Worker) Addr() net.Addr { return w.tcp.Addr() }

// Shutdown makes Run drain and return, and waits for it or for ctx.
func (w *Worker) Shutdown(ctx context.Context) error {
	w.once.Do(func() { close(w.stop) })
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("shut down worker: %w", context.Cause(ctx))
	}
}

func (w *Worker) warn(what string, err error) {
	if err != nil && !errors.Is(err, net.ErrClosed) {
		w.cfg.Logger.Warn(what, slog.Any("error", err))
	}
}

// undoList is a list of what to take back if building up fails.
type undoList struct{ steps []func() }

func (u *undoList) add(f func()) { u.steps = append(u.steps, f) }
func (u *undoList) release()     { u.steps = nil }

func (u *undoList) run() {
	for i := len(u.steps) - 1; i >= 0; i-- {
		u.steps[i]()
	}
}
