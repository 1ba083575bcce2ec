package server

import (
	"bytes"
	"net/http"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"

	"github.com/open-lambda/open-lambda/src/api"
)

// profile is the CPU profile in progress.
type profile struct {
	mu  sync.Mutex
	buf *bytes.Buffer // nil: none
}

func (s *Server) pprof(w http.ResponseWriter, r *http.Request) {
	switch strings.TrimPrefix(r.URL.Path, api.PathPprof) {
	case "mem":
		runtime.GC() // the profile shows what the last collection found
		var b bytes.Buffer
		if err := pprof.WriteHeapProfile(&b); err != nil {
			problem(err).Write(w, r)
			return
		}
		writeProfile(w, b.Bytes())
	case "cpu-start":
		s.profile.start(w, r)
	case "cpu-stop":
		s.profile.stop(w, r)
	default:
		notFound(w, r)
	}
}

func (p *profile) start(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := &bytes.Buffer{}
	if p.buf != nil || pprof.StartCPUProfile(b) != nil {
		api.NewProblem(http.StatusBadRequest, "profile-on", "a CPU profile is being taken already: /pprof/cpu-stop ends it").Write(w, r)
		return
	}
	p.buf = b
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	writeString(w, "started cpu profiling\n")
}

func (p *profile) stop(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.buf == nil {
		api.NewProblem(http.StatusBadRequest, "profile-off", "no CPU profile is being taken: /pprof/cpu-start begins one").Write(w, r)
		return
	}
	pprof.StopCPUProfile()
	writeProfile(w, p.buf.Bytes())
	p.buf = nil
}

// Close ends a CPU profile that nobody stopped.
func (s *Server) Close() {
	s.profile.mu.Lock()
	defer s.profile.mu.Unlock()
	if s.profile.buf != nil {
		pprof.StopCPUProfile()
		s.profile.buf = nil
	}
}

func writeProfile(w http.ResponseWriter, b []byte) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = w.Write(b)
}
