package server

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/open-lambda/open-lambda/src/api"
)

func (s *Server) stats(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.cfg.Stats()) }

// debug describes every sandbox: text, or JSON for those who accept it.
func (s *Server) debug(w http.ResponseWriter, r *http.Request) {
	d := s.cfg.Dispatcher.Debug()
	d.Worker = s.cfg.Worker
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		writeJSON(w, d)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	writeString(w, debugText(d))
}

func debugText(d api.Debug) string {
	var b strings.Builder
	fmt.Fprintf(&b, "WORKER %s\nMEMORY used %d MB, peak %d MB, pool %d MB\nSANDBOXES %d\n", d.Worker, d.UsedMB, d.PeakMB, d.PoolMB, len(d.Sandboxes))
	for _, s := range d.Sandboxes {
		state := s.State
		if s.Frozen {
			state += ", frozen"
		}
		fmt.Fprintf(&b, "\nSANDBOX %s\n  function: %s\n  state:    %s\n  origin:   %s\n  memory:   %d of %d MB\n  init:     %.1f ms\n  uses:     %d\n  age:      %.1f s\n",
			s.ID, s.Function, state, s.Origin, s.MemBytes>>20, s.LimitMB, s.InitMS, s.Uses, s.AgeMS/1000)
		if s.Detail != "" {
			fmt.Fprintf(&b, "  cgroup:   %s\n", s.Detail)
		}
	}
	return b.String()
}
