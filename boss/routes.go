package boss

import (
	"cmp"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"

	"github.com/open-lambda/open-lambda/boss/async"
	"github.com/open-lambda/open-lambda/src/api"
)

// ServeHTTP is part of http.Handler. Invocations go past the mux, which would
// redirect paths that it finds untidy.
func (b *Boss) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if b.closing.Load() {
		w.Header().Set("Connection", "close")
	}
	if strings.HasPrefix(r.URL.Path, api.PathRun) {
		delete(r.Header, api.HeaderTrigger) // only we may say so
		if b.async != nil && async.Wanted(r) {
			b.async.ServeHTTP(w, r)
			return
		}
		b.router.ServeHTTP(w, r)
		return
	}
	b.mux.ServeHTTP(w, r)
}

func (b *Boss) routes() {
	b.mux = http.NewServeMux()
	b.mux.HandleFunc("GET "+api.PathStatus, b.status)
	b.mux.HandleFunc("POST "+api.PathJoin, b.guarded(b.join.ServeHTTP))
	b.mux.Handle("GET "+api.PathMetrics, b.metrics.Handler())
	b.mux.HandleFunc("GET "+api.PathNodes, b.nodes)
	b.mux.HandleFunc("POST "+api.PathNodes+"/{name}/drain", b.guarded(b.drain(true)))
	b.mux.HandleFunc("POST "+api.PathNodes+"/{name}/resume", b.guarded(b.drain(false)))
	b.mux.HandleFunc("POST "+api.PathScaling, b.guarded(b.scale))
	b.mux.HandleFunc("POST "+api.PathShutdown, b.guarded(b.shutdownRoute))
	if b.cfg.Registry != nil {
		b.mux.HandleFunc("GET "+api.PathRegistry, b.cfg.Registry.ServeHTTP)
		b.mux.HandleFunc(api.PathRegistry, b.guarded(b.cfg.Registry.ServeHTTP))
	}
	if b.async != nil {
		b.async.Routes(b.mux, b.guarded)
	}
	b.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		api.NewProblem(http.StatusNotFound, "no-route", "there is nothing at "+r.URL.Path+"; lambdas are at "+api.PathRun+"NAME").Write(w, r)
	})
}

// guarded asks for the token.
func (b *Boss) guarded(h http.HandlerFunc) http.HandlerFunc {
	if b.cfg.Token == "" {
		return h
	}
	return func(w http.ResponseWriter, r *http.Request) {
		got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || subtle.ConstantTimeCompare([]byte(got), []byte(b.cfg.Token)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			api.NewProblem(http.StatusUnauthorized, "wrong-token", "this needs the cluster's token: \"Authorization: Bearer TOKEN\"").Write(w, r)
			return
		}
		h(w, r)
	}
}

// status counts workers by state, in OpenLambda's words, and shows what this
// boss is.
func (b *Boss) status(w http.ResponseWriter, r *http.Request) {
	if b.closing.Load() {
		api.NewProblem(http.StatusServiceUnavailable, "shutting-down", "the boss is shutting down").Write(w, r)
		return
	}
	s := api.BossStatus{Placer: b.cfg.Placer, State: map[string]int{"starting": 0, "running": 0, "cleaning": 0, "destroying": 0}, Tasks: map[string]int{}}
	for _, n := range b.fleet.Nodes() {
		switch n.State {
		case "up", "suspect":
			s.State["running"]++
		case "draining":
			s.State["cleaning"]++
		}
		if n.State != "lost" {
			s.Tasks[n.Name] = n.InFlight
		}
	}
	if b.cfg.Registry != nil {
		s.Lambdas, s.Registry = b.cfg.Registry.Health()
	}
	api.WriteJSON(w, http.StatusOK, s)
}

func (b *Boss) nodes(w http.ResponseWriter, _ *http.Request) {
	all := b.fleet.Nodes()
	slices.SortFunc(all, func(x, y api.NodeState) int { return cmp.Compare(x.Name, y.Name) })
	api.WriteJSON(w, http.StatusOK, all)
}

// drain tells a worker to take no more, or to take requests again. It says so
// to every boss by its next report.
func (b *Boss) drain(on bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := b.join.Notify(r.PathValue("name"), api.Notice{Drain: &on}); err != nil {
			api.NewProblem(http.StatusNotFound, "unknown-worker", "worker "+r.PathValue("name")+": "+err.Error()).Write(w, r)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

func (b *Boss) shutdownRoute(w http.ResponseWriter, _ *http.Request) {
	b.once.Do(func() { close(b.stop) })
	w.WriteHeader(http.StatusAccepted)
}
