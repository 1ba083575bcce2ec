package sockmode

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"strings"

	"github.com/open-lambda/open-lambda/src/api"
)

// run sends a request to a sandbox: /run/ID[/PATH]. It is ours; OpenLambda's
// callers had to find the sandbox' socket on disk.
func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	id, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, api.PathRun), "/")
	b, err := s.find(id)
	if err == nil {
		err = b.ready()
	}
	if err != nil {
		s.problem(err).Write(w, r)
		return
	}
	ctx, cancel := context.WithTimeoutCause(r.Context(), b.runtime, errTooLong())
	defer cancel()
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
		s.problem(context.Cause(ctx)).Write(w, r)
		return
	}
	b.uses.Add(1)
	w.Header().Set(api.HeaderWorker, s.cfg.Worker)
	s.proxy(b).ServeHTTP(w, r.WithContext(ctx))
}

// ready tells why no request can be sent.
func (b *box) ready() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.gone:
		return noSandbox(b.id)
	case b.parent:
		return bad("%s is a parent: it runs nothing", b.id)
	case b.frozen:
		return api.NewProblem(http.StatusConflict, "paused", "sandbox "+b.id+" is paused: POST "+PathUnpause+b.id)
	}
	return nil
}

func errTooLong() error {
	return api.NewProblem(http.StatusGatewayTimeout, "runtime-limit", "it took longer than limits.runtime_sec")
}

// proxy copies a request to a sandbox and its answer back, without the headers
// that are between two hops.
func (s *Server) proxy(b *box) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host = "http", "sandbox"
			p.Out.Host = p.In.Host
			p.SetXForwarded()
		},
		Transport: b.sb, FlushInterval: -1, ErrorLog: slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			var p *api.Problem
			if !errors.As(context.Cause(r.Context()), &p) {
				p = api.NewProblem(http.StatusBadGateway, "sandbox-died", "sandbox "+b.id+" did not answer: "+err.Error())
			}
			p.Write(w, r)
		},
	}
}
