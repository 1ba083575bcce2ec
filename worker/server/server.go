package server

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
	"github.com/open-lambda/open-lambda/src/metrics"
	"github.com/open-lambda/open-lambda/worker/dispatch"
	"github.com/open-lambda/open-lambda/worker/events"
	"github.com/open-lambda/open-lambda/worker/fault"
)

// Lambda is a lambda that can be invoked.
type Lambda struct {
	Name    string
	Config  *lambda.Config
	Func    *dispatch.Func
	Metrics *metrics.Function
}

// Lambdas finds lambdas. Errors are those of code.Cache.Get.
type Lambdas interface {
	// Lookup wants code at least as new as a stamp (api.HeaderStamp); "": any.
	Lookup(ctx context.Context, name, least string) (*Lambda, error)
	Changed(name string) // the registry has another version, or none
}

// Dispatcher runs requests.
type Dispatcher interface {
	Do(ctx context.Context, f *dispatch.Func, x dispatch.Exchange) (dispatch.Grant, error)
	Debug() api.Debug
}

// Calls is told which requests run where, for the lambdas that may call others.
type Calls interface {
	// Begin enters a request that is sent to a sandbox; end must be called.
	Begin(ctx context.Context, sandbox, id string, in *http.Request) (end func())
}

// Config is what a Server needs. All fields are required.
type Config struct {
	Worker     string // name, for X-Ol-Worker
	Lambdas    Lambdas
	Dispatcher Dispatcher
	Registry   Registry
	Calls      Calls // of lambdas that call others
	Metrics    *metrics.Metrics
	Stats      func() api.Stats
	Events     *events.Log
	Closing    func() bool                // the worker shuts down
	MaxBody    int64                      // bytes of a request's body
	Scratch    string                     // directory for uploads in progress
	Alone      bool                       // the worker belongs to no cluster
	Allowed    func(*lambda.Config) error // why the worker would not run a lambda that is uploaded; nil: it would
	Limits     archive.Limits
	Fault      fault.Injector // for tests
	Logger     *slog.Logger
}

// Server answers requests.
type Server struct {
	cfg     Config
	mux     *http.ServeMux
	counts  counts
	profile profile
	buffers bufferPool
}

// counts are counters that every invocation touches.
type counts struct {
	web, queue, exec, errors *metrics.Count
	kinds                    [metrics.NoStart]*metrics.Count
}

// New makes the server's handler.
func New(cfg Config) *Server {
	s := &Server{cfg: cfg, mux: http.NewServeMux()}
	t := cfg.Metrics.Tally
	s.counts = counts{
		web: t.Count(api.StatRun), queue: t.Count(api.StatQueue), exec: t.Count(api.StatExec), errors: t.Count(api.StatError),
		kinds: [metrics.NoStart]*metrics.Count{t.Count(api.StatWarm), t.Count(api.StatCold), t.Count(api.StatDelayed)},
	}
	s.mux.HandleFunc(api.PathStatus, s.shown(s.status))
	s.mux.HandleFunc(api.PathStats, s.shown(s.stats))
	s.mux.HandleFunc(api.PathDebug, s.shown(s.debug))
	s.mux.HandleFunc("GET "+api.PathEvents, s.events)
	s.mux.Handle(api.PathMetrics, cfg.Metrics.Handler())
	s.mux.HandleFunc(api.PathRegistry, s.registry)
	s.mux.HandleFunc(api.PathPprof, s.pprof)
	s.mux.HandleFunc("/", notFound)
	return s
}

// shown takes GET, and POST, for OpenLambda's clients send that too.
func (s *Server) shown(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.only(w, r, h, http.MethodGet, http.MethodHead, http.MethodPost)
	}
}

// Mount adds what is answered beside lambdas, before the server serves.
func (s *Server) Mount(path string, h http.Handler) { s.mux.Handle(path, h) }

// RefuseLambda answers with the failure to find a lambda.
func RefuseLambda(w http.ResponseWriter, r *http.Request, name string, err error) {
	p := problem(err)
	p.Function = name
	p.Write(w, r)
}

// ServeHTTP is part of http.Handler. Invocations go past the mux, which
// would redirect paths that it finds untidy.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if rest, ok := strings.CutPrefix(r.URL.Path, api.PathRun); ok {
		s.run(w, r, rest)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// HTTP returns a server with limits on what strangers may do: 10 s and 64 KB
// for a request's header, 2 min for an idle connection. Bodies and answers
// have no time limit of their own: an upload may be slow, a lambda may stream.
func HTTP(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return context.Background() },
	}
}

func notFound(w http.ResponseWriter, r *http.Request) {
	api.NewProblem(http.StatusNotFound, "no-route", "there is nothing at "+r.URL.Path+"; lambdas are at "+api.PathRun+"NAME").Write(w, r)
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Closing() {
		closing().Write(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	writeString(w, api.StatusReady)
}
