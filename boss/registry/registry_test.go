package registry_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/open-lambda/open-lambda/boss/registry"
	"github.com/open-lambda/open-lambda/boss/registry/memory"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
)

// followed is a registry that follows its store until the test ends.
func followed(t *testing.T, s *memory.Store) (*registry.Registry, <-chan string) {
	t.Helper()
	r, err := registry.New(registry.Config{
		Meta: s, Code: s.Code(), Scratch: t.TempDir(), Limits: archive.DefaultLimits(), Patience: 10 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 100)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		r.Follow(ctx, func(names []string) {
			for _, n := range names {
				told <- n
			}
		})
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	<-r.Synced()
	return r, told
}

func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := archive.Pack(&b, dir, "f.py"); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func call(r http.Handler, method, path string, body []byte, header ...string) *httptest.ResponseRecorder {
	in := httptest.NewRequest(method, path, bytes.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		in.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, in)
	return w
}

func TestRoutes(t *testing.T) {
	r, _ := followed(t, memory.New())
	code := packed(t, map[string]string{"f.py": "def f(e): return 1\n", "ol.yaml": "triggers:\n  http:\n    - method: GET\n"})
	if r.Exists("echo") {
		t.Error("an empty registry has echo")
	}
	w := call(r, http.MethodPost, "/registry/echo", code)
	if w.Code != 201 || w.Body.String() != "Lambda echo uploaded successfully" || w.Header().Get(api.HeaderRevision) == "" {
		t.Fatalf("got %d %s %v", w.Code, w.Body, w.Header())
	}
	if !r.Exists("echo") {
		t.Error("what was just installed is not there")
	}
	if w := call(r, http.MethodGet, "/registry/", nil); w.Body.String() != "[\"echo\"]\n" {
		t.Errorf("got %s", w.Body)
	}
	w = call(r, http.MethodGet, "/registry/echo", nil)
	if w.Code != 200 || !bytes.Equal(w.Body.Bytes(), code) || len(w.Header().Get("ETag")) != 66 {
		t.Errorf("got %d, %d bytes, %v", w.Code, w.Body.Len(), w.Header())
	}
	const want = `{"Triggers":{"HTTP":[{"Method":"GET"}],"Cron":null,"Kafka":null},"Environment":{},"ReuseSandbox":true}` + "\n"
	if d := cmp.Diff(want, call(r, http.MethodGet, "/registry/echo/config", nil).Body.String()); d != "" {
		t.Error(d)
	}
	if w := call(r, http.MethodDelete, "/registry/echo", nil); w.Code != 200 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if r.Exists("echo") {
		t.Error("what was removed is there")
	}
}

func TestBadInput(t *testing.T) {
	s := memory.New()
	r, _ := followed(t, s)
	good := packed(t, map[string]string{"f.py": "x = 1\n"})
	call(r, http.MethodPost, "/registry/there", good)
	for _, tc := range []struct {
		name, method, path string
		body               []byte
		header             []string
		status             int
	}{
		{"bad name", http.MethodPost, "/registry/a$b", good, nil, 400},
		{"broken archive", http.MethodPost, "/registry/x", []byte("no archive"), nil, 400},
		{"no entry", http.MethodPost, "/registry/x", nil, nil, 400},
		{"unknown", http.MethodGet, "/registry/x", nil, nil, 404},
		{"unknown config", http.MethodGet, "/registry/x/config", nil, nil, 404},
		{"unknown removal", http.MethodDelete, "/registry/x", nil, nil, 404},
		{"no method", http.MethodPatch, "/registry/x", nil, nil, 405},
		{"exists", http.MethodPost, "/registry/there", good, []string{"If-None-Match", "*"}, 409},
		{"stale", http.MethodPost, "/registry/there", good, []string{"If-Match", `"0"`}, 409},
		{"stale removal", http.MethodDelete, "/registry/there", nil, []string{"If-Match", "99"}, 409},
		{"no revision", http.MethodPost, "/registry/there", good, []string{"If-Match", "new"}, 400},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := call(r, tc.method, tc.path, tc.body, tc.header...)
			if w.Code != tc.status || w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		})
	}
	if names := r.Names(); len(names) != 1 {
		t.Errorf("the registry has %v", names)
	}
}

// Failure table: register the same function twice, or concurrently.
func TestSameFunctionFromManySides(t *testing.T) {
	s := memory.New()
	a, _ := followed(t, s)
	b, _ := followed(t, s)
	var wg sync.WaitGroup
	var archives [8][]byte
	for i := range archives {
		archives[i] = packed(t, map[string]string{"f.py": strings.Repeat("#", i) + "\n"})
		wg.Go(func() {
			if w := call([]http.Handler{a, b}[i%2], http.MethodPost, "/registry/f", archives[i]); w.Code != 201 {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		})
	}
	wg.Wait()
	deadline := time.Now().Add(time.Minute)
	for {
		fa, _ := a.Get("f")
		fb, _ := b.Get("f")
		if fa.Revision == fb.Revision && fa.Revision == 8 {
			if fa.Digest != fb.Digest {
				t.Error("two bosses know different code")
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("revisions %d and %d do not meet", fa.Revision, fb.Revision)
		}
	}
	w := call(a, http.MethodGet, "/registry/f", nil)
	whole := false
	for _, code := range archives {
		whole = whole || bytes.Equal(code, w.Body.Bytes())
	}
	if !whole {
		t.Error("what is stored is nobody's upload")
	}
}

// Failure table: the store is lost and comes back: reads go on, writes fail at
// once, what changed meanwhile is seen, what was removed is gone.
func TestStoreLostAndBack(t *testing.T) {
	s := memory.New()
	r, told := followed(t, s)
	code := packed(t, map[string]string{"f.py": "\n"})
	for _, name := range []string{"stays", "goes"} {
		if w := call(r, http.MethodPost, "/registry/"+name, code); w.Code != 201 {
			t.Fatal(w.Body)
		}
	}
	s.SetDown(true)
	w := call(r, http.MethodPost, "/registry/new", code)
	if w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "registry-unavailable") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if !r.Exists("stays") || r.Exists("new") {
		t.Errorf("the registry knows %v", r.Names())
	}
	s.SetDown(false)
	if err := s.Delete(t.Context(), "goes", registry.Any); err != nil {
		t.Fatal(err)
	}
	for r.Exists("goes") {
		<-told // its installation too is told
	}
	if r.Exists("goes") || !r.Exists("stays") {
		t.Errorf("the registry knows %v", r.Names())
	}
	deadline := time.Now().Add(time.Minute)
	for {
		if _, health := r.Health(); health == "ok" {
			break
		} else if time.Now().After(deadline) {
			t.Fatal(health)
		}
	}
}

func TestSweep(t *testing.T) {
	s := memory.New()
	r, _ := followed(t, s)
	for _, text := range []string{"1\n", "2\n"} {
		call(r, http.MethodPost, "/registry/f", packed(t, map[string]string{"f.py": text}))
	}
	if all, _ := s.Code().List(t.Context()); len(all) != 2 {
		t.Fatalf("got %v", all)
	}
	if err := r.Sweep(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if all, _ := s.Code().List(t.Context()); len(all) != 2 {
		t.Error("code went that somebody may be fetching")
	}
	if err := r.Sweep(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	f, _ := r.Get("f")
	if all, _ := s.Code().List(t.Context()); len(all) != 1 || all[0].Digest != f.Digest {
		t.Errorf("got %v, %s is in use", all, f.Digest)
	}
	if body, err := s.Code().Get(t.Context(), f.Digest); err != nil {
		t.Error(err)
	} else if _, err := io.ReadAll(body); err != nil {
		t.Error(err)
	}
}
