package route

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/boss/fleet"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
)

// Config is what a Router needs.
type Config struct {
	Fleet *fleet.Fleet
	// Known tells whether a lambda is installed, and the stamp (api.HeaderStamp)
	// of its newest code that is known; nil: the workers know.
	Known func(name string) (stamp string, ok bool)
	// Timeout is how long an invocation may take if the client does not say;
	// 0: 5 min. Clients may ask for less, not for more.
	Timeout time.Duration
	MaxBody int64       // largest body of a request, bytes; 0: 64 MB
	Replay  int         // bytes of a body that are kept for a second try; 0: 64 KB
	TLS     *tls.Config // towards workers; nil: the system's
	Token   string      // shown to workers; "": none
	// Answered is told of every invocation: its status, the time from its
	// arrival to its end, and how often it was sent again; nil: nobody is.
	Answered func(code int, took time.Duration, retries int)
	Logger   *slog.Logger
}

func (c *Config) fill() error {
	if c.Fleet == nil {
		return errors.New("make router: a fleet is required")
	}
	if c.Timeout <= 0 {
		c.Timeout = 5 * time.Minute
	}
	if c.MaxBody <= 0 {
		c.MaxBody = 64 << 20
	}
	if c.Replay <= 0 {
		c.Replay = 64 << 10
	}
	if c.Answered == nil {
		c.Answered = func(int, time.Duration, int) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// Router answers /run/.
type Router struct {
	cfg       Config
	transport *http.Transport // for what is streamed
	hops      hops
	proxy     *httputil.ReverseProxy
}

// New makes a router. Close releases its connections.
func New(cfg Config) (*Router, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	r := &Router{cfg: cfg, transport: newTransport(cfg.TLS), hops: hops{tls: cfg.TLS, by: map[string]*hop{}}}
	r.proxy = &httputil.ReverseProxy{
		Rewrite: rewrite, Transport: r, BufferPool: newBuffers(), ErrorHandler: r.refuse,
		ErrorLog: slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug),
	}
	return r, nil
}

// Close closes idle connections to workers.
func (r *Router) Close() {
	r.transport.CloseIdleConnections()
	r.hops.close()
}

// rewrite leaves the request as the client sent it, path and query included.
func rewrite(p *httputil.ProxyRequest) {
	p.Out.Host = p.In.Host
	p.Out.URL.RawQuery = p.In.URL.RawQuery
	if v, ok := p.In.Header["X-Forwarded-For"]; ok {
		p.Out.Header["X-Forwarded-For"] = v
	}
	p.SetXForwarded()
	// What a proxy before the boss has said is right.
	for _, k := range []string{"X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, ok := p.In.Header[k]; ok {
			p.Out.Header[k] = v
		}
	}
}

// call is one invocation, carried by the request's context.
type call struct {
	name     string
	id       string
	stamp    string // what the worker must serve at least; "": anything
	deadline time.Time
	worker   string // the last one that it was sent to
	code     int    // status of its answer
	retries  int
	small    bool   // the body is in memory
	body     []byte // if small
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// ErrDeadline is the cause of an invocation that took too long.
var ErrDeadline = errors.New("the invocation's time is over")

// ServeHTTP is part of http.Handler.
func (r *Router) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	c := &call{id: api.RequestID(in)}
	arrived := time.Now()
	// An answer that breaks off panics, and is counted all the same.
	defer func() { r.cfg.Answered(c.code, time.Since(arrived), c.retries) }()
	c.name, _, _ = strings.Cut(strings.TrimPrefix(in.URL.Path, api.PathRun), "/")
	limit, err := r.admit(in, c)
	ctx := context.WithValue(in.Context(), callKey{}, c)
	if err != nil {
		r.refuse(w, in.WithContext(ctx), err)
		return
	}
	c.deadline = arrived.Add(limit)
	ctx, cancel := context.WithDeadlineCause(ctx, c.deadline, ErrDeadline)
	defer cancel()
	in = in.WithContext(ctx)
	if err := r.readBody(w, in, c); err != nil {
		r.refuse(w, in, err)
		return
	}
	r.proxy.ServeHTTP(w, in)
}

// readBody reads a small body, before a worker is chosen. What is large or has
// no length given is streamed.
func (r *Router) readBody(w http.ResponseWriter, in *http.Request, c *call) error {
	switch {
	case in.Body == nil || in.Body == http.NoBody:
		c.small = true
		return nil
	case in.ContentLength < 0 || in.ContentLength > int64(r.cfg.Replay):
		in.Body = http.MaxBytesReader(w, in.Body, r.cfg.MaxBody)
		return nil
	}
	c.small, c.body = true, make([]byte, in.ContentLength)
	// The server reads without regard to the context. A writer that cannot set
	// a deadline is a test's, and there is no connection to wait for.
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(c.deadline)
	_, err := io.ReadFull(in.Body, c.body)
	switch {
	case err == nil:
		_ = connection.SetReadDeadline(time.Time{})
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrDeadline // which stays, or the server would wait for the rest
	}
	return &clientError{err}
}

// admit checks what can be checked without a worker and returns how long the
// invocation may take.
func (r *Router) admit(in *http.Request, c *call) (time.Duration, error) {
	if err := lambda.CheckName(c.name); err != nil {
		return 0, err
	}
	if in.ContentLength > r.cfg.MaxBody {
		return 0, &http.MaxBytesError{Limit: r.cfg.MaxBody}
	}
	limit, err := timeout(in.Header.Get(api.HeaderTimeout), r.cfg.Timeout)
	if err != nil {
		return 0, err
	}
	if r.cfg.Known == nil {
		return limit, nil
	}
	var ok bool
	if c.stamp, ok = r.cfg.Known(c.name); !ok {
		return 0, errUnknown
	}
	return limit, nil
}

var errUnknown = errors.New("no such lambda")

// timeoutError is a HeaderTimeout that makes no sense.
type timeoutError struct{ got string }

func (e *timeoutError) Error() string {
	return fmt.Sprintf("header %s is %q: it must be a positive number of milliseconds", api.HeaderTimeout, e.got)
}

func timeout(header string, most time.Duration) (time.Duration, error) {
	if header == "" {
		return most, nil
	}
	ms, err := strconv.ParseInt(header, 10, 64)
	if err != nil || ms <= 0 {
		return 0, &timeoutError{header}
	}
	if ms >= most.Milliseconds() {
		return most, nil
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// aim points a request at a worker.
func (r *Router) aim(req *http.Request, c *call, l *fleet.Lease, h *hop) {
	c.worker = l.Worker
	req.URL.Scheme, req.URL.Host = h.scheme, h.host
	req.Header[api.HeaderRequestID] = []string{c.id}
	left := max(time.Until(c.deadline).Milliseconds(), 1)
	req.Header[api.HeaderTimeout] = []string{strconv.FormatInt(left, 10)}
	delete(req.Header, api.HeaderStamp)
	if c.stamp != "" {
		req.Header[api.HeaderStamp] = []string{c.stamp}
	}
	if r.cfg.Token != "" {
		req.Header[api.HeaderToken] = []string{r.cfg.Token}
	}
}
