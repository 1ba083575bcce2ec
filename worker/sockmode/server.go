package sockmode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/metrics"
	"github.com/open-lambda/open-lambda/worker/packages"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// Routes, as OpenLambda has them; all want POST.
const (
	PathCreate  = "/create"
	PathDestroy = "/destroy/"
	PathPause   = "/pause/"
	PathUnpause = "/unpause/"
)

// Packages installs what sandboxes need: *packages.Store.
type Packages interface {
	Lease(ctx context.Context, want []lambda.Requirement) (*packages.Lease, error)
}

// Config is what a Server needs. All fields are required unless they say
// otherwise.
type Config struct {
	Worker   string // name, for /debug and X-Ol-Worker
	Provider sandbox.Provider
	Packages Packages
	Settings *config.Config                       // limits, mem_pool_mb, queue_timeout_ms, max_body_mb
	Scratch  string                               // directory for code that comes as an archive
	Output   func(function string) io.WriteCloser // of what sandboxes print; nil: it is dropped
	Problem  func(err error) *api.Problem         // says what a client is told about an error of packages and archives
	Tally    *metrics.Tally                       // counts makings and removals
	Logger   *slog.Logger
}

// Server answers requests.
type Server struct {
	cfg     Config
	mux     *http.ServeMux
	memory  *semaphore.Weighted // MB of the pool
	used    atomic.Int64        // MB taken from it
	peak    atomic.Int64
	created *metrics.Count
	removed *metrics.Count

	life context.Context // ends when the server closes
	stop context.CancelFunc
	wg   sync.WaitGroup // makings

	mu     sync.Mutex
	all    map[string]*box
	made   int
	closed bool
}

// New makes the server's handler.
func New(cfg Config) *Server {
	s := &Server{
		cfg: cfg, mux: http.NewServeMux(), memory: semaphore.NewWeighted(int64(cfg.Settings.MemPoolMB)), all: map[string]*box{},
		created: cfg.Tally.Count(api.StatCreate), removed: cfg.Tally.Count(api.StatDestroy),
	}
	s.life, s.stop = context.WithCancel(context.Background())
	s.post(PathCreate, s.create)
	s.post(PathDestroy, s.byID(s.destroy))
	s.post(PathPause, s.byID(s.pause))
	s.post(PathUnpause, s.byID(s.unpause))
	s.mux.HandleFunc(api.PathRun, s.run)
	return s
}

// Paths are those that ServeHTTP answers.
func Paths() []string {
	return []string{PathCreate, PathDestroy, PathPause, PathUnpause, api.PathRun}
}

// ServeHTTP is part of http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// post mounts what answers POST, and what it returns as a problem.
func (s *Server) post(path string, h func(w http.ResponseWriter, r *http.Request) error) {
	s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			api.NewProblem(http.StatusMethodNotAllowed, "method-not-allowed", path+" takes POST only").Write(w, r)
			return
		}
		if err := h(w, r); err != nil {
			s.problem(err).Write(w, r)
		}
	})
}

// byID finds the sandbox that the path ends with.
func (s *Server) byID(h func(ctx context.Context, b *box) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		b, err := s.find(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
		if err != nil {
			return err
		}
		if err := h(r.Context(), b); err != nil {
			return err
		}
		w.WriteHeader(http.StatusOK)
		return nil
	}
}

func (s *Server) find(id string) (*box, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.all[id]; b != nil {
		return b, nil
	}
	return nil, noSandbox(id)
}

func noSandbox(id string) error {
	return api.NewProblem(http.StatusNotFound, "unknown-sandbox", fmt.Sprintf("there is no sandbox %q: /debug lists those that exist", id))
}

// problem says what the client is told about an error.
func (s *Server) problem(err error) *api.Problem {
	var p *api.Problem
	var start *sandbox.StartError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &start) && start.Lambda:
		p = api.NewProblem(http.StatusBadGateway, "start-failed", start.Error())
		p.Output = start.Output
		return p
	}
	return s.cfg.Problem(err)
}

// enter counts a making that Close waits for.
func (s *Server) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return closing()
	}
	s.wg.Add(1)
	return nil
}

func closing() error {
	p := api.NewProblem(http.StatusServiceUnavailable, "shutting-down", "the worker shuts down")
	p.RetryAfter = 5 * time.Second
	return p
}

// Close gives makings up and destroys every sandbox. ctx bounds the wait for
// the kernel, not the removal.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.wg.Wait()
	var errs []error
	for _, b := range s.list() {
		errs = append(errs, s.destroy(ctx, b))
	}
	return errors.Join(errs...)
}
