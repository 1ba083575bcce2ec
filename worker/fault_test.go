package worker

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/worker/registry"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// Faults of OpenLambda that its users met; docs/compatibility.md has the table.

// Three times as many lambdas as the pool has room for, all at once: each
// request is answered, none is killed to make room.
func TestFaultMemoryPressureLosesNobody(t *testing.T) {
	var running, most atomic.Int64
	ls := lambdas{}
	for i := range 30 {
		ls[fmt.Sprintf("f%d", i)] = func(w http.ResponseWriter, r *http.Request) {
			now := running.Add(1)
			defer running.Add(-1)
			for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
			}
			select {
			case <-time.After(50 * time.Millisecond):
				hello(w, r)
			case <-r.Context().Done(): // killed
			}
		}
	}
	n := newNode(t, ls, nil, func(s *config.Config) { s.MemPoolMB = 500 })
	var wg sync.WaitGroup
	for name := range ls {
		wg.Go(func() { n.expect(n.get("/run/"+name), http.StatusOK, "hello") })
	}
	wg.Wait()
	if _, peak := n.provider.Made(); peak > 10 {
		t.Errorf("%d sandboxes at once in a pool with room for 10", peak)
	}
}

// A worker whose sandboxes have died under their requests still shuts down, and
// those requests were answered.
func TestFaultShutdownAfterDeadSandboxes(t *testing.T) {
	var n *node
	n = newNode(t, lambdas{"dies": func(_ http.ResponseWriter, r *http.Request) {
		for _, s := range n.provider.Live() {
			s.Die("signal: killed")
		}
		<-r.Context().Done()
	}}, nil, nil)
	for range 3 {
		n.expect(n.get("/run/dies"), http.StatusBadGateway, "killed")
	}
	ended := make(chan struct{})
	go func() { n.end(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the worker does not end")
	}
}

// countedRegistry counts how often it is asked.
type countedRegistry struct {
	*registry.Registry
	asked atomic.Int64
}

func (r *countedRegistry) Version(ctx context.Context, name, least string) (version, stamp string, err error) {
	r.asked.Add(1)
	return r.Registry.Version(ctx, name, least)
}

func (r *countedRegistry) Fetch(ctx context.Context, name string, w io.Writer) error {
	r.asked.Add(1)
	return r.Registry.Fetch(ctx, name, w)
}

// Within registry_cache_ms the registry is not asked again, however many calls
// there are.
func TestFaultRegistryIsNotAskedForEveryCall(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "registry/f/f.py"), "1")
	s := config.New(dir, 4000)
	s.RegistryCacheMS = 3_600_000
	r, err := registry.Open(t.Context(), s.Registry, nil)
	if err != nil {
		t.Fatal(err)
	}
	counted := &countedRegistry{Registry: r}
	n := startNodeWith(t, dir, s, counted, func(sandbox.Spec) (http.Handler, error) { return http.HandlerFunc(hello), nil })
	n.expect(n.get("/run/f"), http.StatusOK, "hello")
	asked := counted.asked.Load()
	for range 100 {
		n.expect(n.get("/run/f"), http.StatusOK, "hello")
	}
	if now := counted.asked.Load(); now != asked {
		t.Errorf("100 calls asked the registry %d times", now-asked)
	}
}

// Whatever lies in the registry: lambdas are served, and nothing waits for what
// is none.
func TestFaultBlobInTheRegistry(t *testing.T) {
	n := newNode(t, lambdas{"hello": hello}, nil, nil)
	for _, name := range []string{"blob", "blob.tar.gz", "odd name", "f.py", "empty/README"} {
		write(t, filepath.Join(n.dir, "registry", name), "no lambda")
	}
	for range 3 {
		n.expect(n.get("/run/hello"), http.StatusOK, "hello")
		for name, status := range map[string]int{"blob": http.StatusInternalServerError, "f.py": http.StatusNotFound, "empty": http.StatusInternalServerError} {
			if r := n.get("/run/" + name); r.status != status {
				t.Errorf("%s: %d %s", name, r.status, r.body)
			}
		}
	}
	n.expect(n.get("/registry/"), http.StatusOK, "hello")
}

// Methods that make no sense of what is only shown.
func TestMethodsOfWhatIsShown(t *testing.T) {
	n := newNode(t, lambdas{}, nil, nil)
	for _, path := range []string{"/status", "/stats", "/debug"} {
		for method, status := range map[string]int{"GET": 200, "HEAD": 200, "POST": 200, "PUT": 405, "DELETE": 405} {
			r := n.do(method, path, nil)
			if r.status != status || (status == 405 && r.header.Get("Allow") != "GET, HEAD, POST") {
				t.Errorf("%s %s: %d, Allow %q", method, path, r.status, r.header.Get("Allow"))
			}
		}
	}
}
