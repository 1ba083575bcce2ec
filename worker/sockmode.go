package worker

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/worker/dispatch"
	"github.com/open-lambda/open-lambda/worker/server"
	"github.com/open-lambda/open-lambda/worker/sockmode"
)

// openBare makes what serves bare sandboxes, if server_mode is "sock".
func (w *Worker) openBare(u *undoList) error {
	if w.cfg.Settings.ServerMode != "sock" {
		return nil
	}
	var output func(string) io.WriteCloser
	if w.logs != nil {
		output = w.logs.Sandbox
	}
	w.bare = sockmode.New(sockmode.Config{
		Worker: w.cfg.name(w.tcp.Addr()), Provider: w.cfg.Provider, Packages: w.functions.packages, Settings: &w.cfg.Settings,
		Scratch: w.cfg.dir("code"), Output: output, Problem: server.Problem, Tally: w.metrics.Tally, Logger: w.cfg.Logger,
	})
	u.add(func() { w.warn("close bare sandboxes", w.bare.Close(context.Background())) })
	return nil
}

// handler answers requests: lambdas, or bare sandboxes in their place.
func (w *Worker) handler() http.Handler {
	if w.bare == nil {
		return w.server
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		for _, path := range sockmode.Paths() {
			if strings.HasPrefix(r.URL.Path, path) {
				w.bare.ServeHTTP(rw, r)
				return
			}
		}
		w.server.ServeHTTP(rw, r)
	})
}

// bareDebug has /debug show bare sandboxes.
type bareDebug struct {
	*dispatch.Dispatcher
	bare *sockmode.Server
}

// Debug is part of server.Dispatcher.
func (d bareDebug) Debug() api.Debug { return d.bare.Debug() }

// debugged is the dispatcher that /debug asks.
func (w *Worker) debugged() server.Dispatcher {
	if w.bare == nil {
		return w.dispatcher
	}
	return bareDebug{w.dispatcher, w.bare}
}
