package emulate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/worker/link"
)

// Config describes a worker.
type Config struct {
	Name   string
	Bosses []string
	Token  string
	TLS    *tls.Config   // towards bosses
	Serve  *tls.Config   // nil: without TLS
	Delay  time.Duration // of an execution
	Cold   time.Duration // of a start, paid by the request that needs it
	Record bool          // remember request ids
	// Journal, if set, gets the id of each request, a line, before it is
	// executed: it outlives a process that is killed.
	Journal io.Writer
	// Poison is a function of which every execution fails with 500; "": none.
	Poison string
	PoolMB int64
	Addr   string       // to listen on; "": a free port of 127.0.0.1
	Logger *slog.Logger // nil: silent
}

// Worker is an emulated worker that runs.
type Worker struct {
	cfg    Config
	gate   *gate
	in     *listener
	server *http.Server
	stop   context.CancelFunc
	wg     sync.WaitGroup
	wake   chan struct{}
	killed chan struct{}

	mu       sync.Mutex
	fault    Fault
	draining bool
	inFlight int
	funcs    map[string]*function
	ran      map[string]int // request id -> executions
	changed  []string
	kafka    map[string][]string // by boss
}

// function is a lambda's sandboxes: so many, so many of them busy.
type function struct{ sandboxes, busy int }

// Fault is how a worker answers.
type Fault int

// Faults.
const (
	Healthy   Fault = iota
	Refuse          // 503, not started
	BreakBody       // half an answer, then the connection breaks
	BreakHead       // the connection breaks before the answer
)

// Start runs a worker.
func Start(cfg Config) (*Worker, error) {
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("start emulated worker: %w", err)
	}
	w := &Worker{
		cfg: cfg, gate: newGate(), wake: make(chan struct{}, 1), killed: make(chan struct{}),
		funcs: map[string]*function{}, ran: map[string]int{}, kafka: map[string][]string{},
	}
	w.in = &listener{Listener: l, gate: w.gate, conns: map[*guarded]struct{}{}}
	w.server = &http.Server{Handler: http.HandlerFunc(w.serve), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	if err := w.join(ctx); err != nil {
		stop()
		return nil, errors.Join(err, l.Close())
	}
	// It returns when the server is closed, and has nothing else to say.
	w.wg.Go(func() { _ = w.server.Serve(w.serveOn()) })
	return w, nil
}

func (w *Worker) serveOn() net.Listener {
	if w.cfg.Serve == nil {
		return w.in
	}
	return tls.NewListener(w.in, w.cfg.Serve)
}

func (w *Worker) join(ctx context.Context) error {
	if len(w.cfg.Bosses) == 0 {
		return nil
	}
	k, err := link.New(link.Config{
		Bosses: w.cfg.Bosses, Name: w.cfg.Name, URL: w.URL(), Version: "emulated", Token: w.cfg.Token, TLS: w.cfg.TLS,
		Node: w, Wake: w.wake, Dial: w.gate.dial, Logger: w.cfg.Logger,
	})
	if err != nil {
		return err
	}
	w.wg.Go(func() { k.Run(ctx) })
	return nil
}

// URL is where the worker is reached.
func (w *Worker) URL() string {
	if w.cfg.Serve != nil {
		return "https://" + w.in.Addr().String()
	}
	return "http://" + w.in.Addr().String()
}

// Name is the worker's name.
func (w *Worker) Name() string { return w.cfg.Name }

// Kill ends the worker as kill -9 does: connections are reset, nothing is
// said. It may be called again.
func (w *Worker) Kill() {
	w.mu.Lock()
	select {
	case <-w.killed:
	default:
		close(w.killed)
	}
	w.mu.Unlock()
	w.stop()
	_ = w.in.Close() // closed twice at worst
	w.in.reset()
	_ = w.server.Close()
	w.gate.set(false)
	w.wg.Wait()
}

// Stall stops everything, as SIGSTOP or a cut network does, or goes on.
func (w *Worker) Stall(on bool) { w.gate.set(on) }

// Misbehave chooses how requests are answered from now on.
func (w *Worker) Misbehave(f Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = f
}

// Ran returns how often each request id was executed.
func (w *Worker) Ran() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.ran)
}

// Told returns the lambdas that a boss said have changed.
func (w *Worker) Told() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.changed...)
}

// Load is part of link.Node.
func (w *Worker) Load() api.Load {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := api.Load{InFlight: w.inFlight, PoolMB: w.cfg.PoolMB, Draining: w.draining, Functions: make(map[string]api.FunctionLoad, len(w.funcs))}
	for name, f := range w.funcs {
		l.Functions[name] = api.FunctionLoad{Sandboxes: f.sandboxes, Slots: f.sandboxes, InFlight: f.busy}
	}
	return l
}

// Drain is part of link.Node.
func (w *Worker) Drain(on bool) {
	w.mu.Lock()
	w.draining = on
	w.mu.Unlock()
	w.wakeUp()
}

// Changed is part of link.Node.
func (w *Worker) Changed(names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed = append(w.changed, names...)
}

// Kafka is part of link.Node.
func (w *Worker) Kafka(boss string, names []string, linked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.kafka, boss)
	if linked {
		w.kafka[boss] = names
	}
}

// Consumers returns the lambdas whose Kafka consumers a boss wants here, sorted.
func (w *Worker) Consumers() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, names := range w.kafka {
		all = append(all, names...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (w *Worker) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
