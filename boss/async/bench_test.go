package async_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/boss/async"
	"github.com/open-lambda/open-lambda/boss/async/memory"
	"github.com/open-lambda/open-lambda/src/api"
)

// bench is a service, or several, on stores in memory, in virtual time.
type bench struct {
	t      *testing.T
	queue  *memory.Queue
	states *memory.States
	svc    *async.Service
	mux    *http.ServeMux

	mu     sync.Mutex
	calls  map[string]int // executions by body
	moment []time.Time    // of executions
	answer http.HandlerFunc
}

const virtualLease = 15 * time.Second

func newBench(t *testing.T, cfg async.Config) *bench {
	b := &bench{t: t, queue: memory.NewQueue(100, virtualLease), states: memory.NewStates(), calls: map[string]int{}}
	b.answer = func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }
	b.svc, b.mux = b.service(cfg)
	return b
}

func (b *bench) service(cfg async.Config) (*async.Service, *http.ServeMux) {
	cfg.Queue, cfg.States, cfg.Run = b.queue, b.states, http.HandlerFunc(b.run)
	if cfg.Slots == 0 {
		cfg.Slots = 4
	}
	svc, err := async.New(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(api.PathRun, svc)
	svc.Routes(mux, func(h http.HandlerFunc) http.HandlerFunc { return h })
	return svc, mux
}

func (b *bench) run(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		b.t.Error(err)
	}
	b.mu.Lock()
	b.calls[string(body)]++
	b.moment = append(b.moment, time.Now())
	answer := b.answer
	b.mu.Unlock()
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	answer(w, r)
}

func (b *bench) ran(body string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls[body]
}

func (b *bench) answerWith(h http.HandlerFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answer = h
}

func status(n int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(n)
		_, _ = io.WriteString(w, "answer")
	}
}

// start runs a service until stop.
func start(svc *async.Service) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { svc.Run(ctx) })
	return func() { cancel(); wg.Wait() }
}

func (b *bench) do(method, path, body string, header ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	b.mux.ServeHTTP(w, r)
	return w
}

// enqueue returns the id.
func (b *bench) enqueue(body string, header ...string) string {
	b.t.Helper()
	w := b.do("POST", "/run/f/x?a=1&async=true", body, header...)
	if w.Code != http.StatusAccepted {
		b.t.Fatalf("got %d: %s", w.Code, w.Body)
	}
	return strings.TrimPrefix(w.Header().Get("Location"), api.PathAsync)
}

func (b *bench) state(id string) api.AsyncState {
	b.t.Helper()
	w := b.do("GET", api.PathAsync+id, "")
	var s api.AsyncState
	if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil || w.Code != 200 {
		b.t.Fatalf("got %d: %s, %v", w.Code, w.Body, err)
	}
	return s
}

func (b *bench) expect(id, state string) api.AsyncState {
	b.t.Helper()
	s := b.state(id)
	if s.State != state {
		b.t.Errorf("it is %s, want %s: %+v", s.State, state, s)
	}
	return s
}

// wants checks a problem.
func wants(t *testing.T, w *httptest.ResponseRecorder, status int, reason string) {
	t.Helper()
	var p api.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != status || p.Reason != reason {
		t.Errorf("got %d %q, want %d %q: %s", w.Code, p.Reason, status, reason, w.Body)
	}
}
