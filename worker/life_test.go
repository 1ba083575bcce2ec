package worker

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/worker/fake"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

func TestRegistryRoutes(t *testing.T) {
	n := newNode(t, lambdas{"b": nil, "a": nil}, nil, nil)
	n.expect(n.get("/registry/"), 200, `["a","b"]`)
	n.expect(n.get("/run/new"), 404, "no such lambda")
	r := n.do("POST", "/registry/new", pack(t, "f.py", "new code", "ol.yaml", "triggers: {http: [{method: GET}]}\nodd: 1"))
	n.expect(r, 201, "Lambda new uploaded successfully")
	if w := r.header.Get(api.HeaderWarning); !strings.Contains(w, `"odd"`) {
		t.Errorf("warning %q", w)
	}
	n.expect(n.get("/run/new"), 200, "new code")
	n.expect(n.get("/registry/new/config"), 200, `{"Triggers":{"HTTP":[{"Method":"GET"}],"Cron":null,"Kafka":null},"Environment":{},"ReuseSandbox":true}`)
	n.expect(n.get("/registry/none/config"), 404, "no such lambda")
	if r := n.get("/registry/new"); r.status != 200 || r.header.Get("Content-Type") != "application/gzip" || !strings.HasPrefix(r.body, "\x1f\x8b") {
		t.Errorf("download: %d %v", r.status, r.header)
	}
	n.expect(n.get("/registry/none"), 404, "no such lambda")
	n.expect(n.do("PUT", "/registry/new", nil), 405, "Allowed: [GET POST DELETE]")
	n.expect(n.do("DELETE", "/registry/new", nil), 200, "deleted")
	n.expect(n.do("DELETE", "/registry/new", nil), 404, "no such lambda")
	n.expect(n.get("/run/new"), 404, "no such lambda")
	n.expect(n.do("POST", "/registry/new", pack(t, "f.py", "back")), 201, "")
	n.expect(n.get("/run/new"), 200, "back")
	n.expect(n.do("POST", "/registry/a%20b", pack(t, "f.py", "")), 400, "bad lambda name")
}

func TestBadUploadsLeaveNothing(t *testing.T) {
	n := newNode(t, lambdas{}, nil, nil)
	link := tarOf(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "f.py", Linkname: "/etc/passwd"})
	for name, body := range map[string]io.Reader{
		"text": strings.NewReader("hello"), "empty": strings.NewReader(""), "noentry": pack(t, "readme", ""),
		"traversal": pack(t, "../../evil", "x"), "absolute": pack(t, "/evil", "x"), "link": link,
		"yaml": pack(t, "f.py", "", "ol.yaml", "limits: 3"), "twice": pack(t, "f.py", "a", "f.py", "b"),
	} {
		n.expect(n.do("POST", "/registry/"+name, body), 400, `"reason":"bad-`)
	}
	n.expect(n.get("/registry/"), 200, "[]")
	if _, err := os.Stat(filepath.Join(n.dir, "evil")); err == nil {
		t.Error("an upload wrote outside of its directory")
	}
}

func tarOf(t *testing.T, h tar.Header) io.Reader {
	t.Helper()
	var buf bytes.Buffer
	gz := gzip.NewWriter(&buf)
	tw := tar.NewWriter(gz)
	errText(t, errors.Join(tw.WriteHeader(&h), tw.Close(), gz.Close()), "")
	return &buf
}

func TestNewCodeIsSeenInTime(t *testing.T) {
	n := newNode(t, lambdas{"f": nil}, nil, nil)
	path := filepath.Join(n.dir, "registry/f/f.py")
	for version := 1; version <= 4; version++ {
		// The size changes too: no clock is that coarse. It is renamed into its
		// place, so that nobody reads half of it.
		fresh := filepath.Join(n.dir, "f.py")
		write(t, fresh, strings.Repeat("x", version))
		if err := os.Rename(fresh, path); err != nil {
			t.Fatal(err)
		}
		written := time.Now()
		for {
			r := n.get("/run/f")
			if r.status != 200 || len(r.body) > version || len(r.body) < version-1 {
				t.Fatalf("version %d: got %d %q", version, r.status, r.body)
			}
			if len(r.body) == version {
				break
			}
			if time.Since(written) > 20*time.Second {
				t.Fatal("the new code never came")
			}
		}
		for range 20 {
			if r := n.get("/run/f"); len(r.body) != version {
				t.Fatalf("an older version came back: %q", r.body)
			}
		}
	}
}

func TestUnknownNamesLeaveNothing(t *testing.T) {
	n := newNode(t, lambdas{}, nil, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 100 {
				n.expect(n.get(fmt.Sprintf("/run/no-%d-%d", i, j)), 404, "no such lambda")
			}
		})
	}
	wg.Wait()
	count := 0
	n.functions.all.Range(func(any, any) bool { count++; return true })
	if count != 0 {
		t.Errorf("%d functions are remembered", count)
	}
}

func TestInspection(t *testing.T) {
	n := newNode(t, lambdas{"hello": hello}, nil, nil)
	n.get("/run/hello")
	n.get("/run/hello")
	if r := n.get("/status"); r.status != 200 || r.body != "ready\n" {
		t.Errorf("got %+v", r)
	}
	var s api.Stats
	if err := json.Unmarshal([]byte(n.get("/stats").body), &s); err != nil {
		t.Fatal(err)
	}
	if s["web-request.cnt"] != 2 || s["start-cold.cnt"] != 1 || s["start-warm.cnt"] != 1 || s["pull-lambda.cnt"] != 1 || s["mem-mb"] != 50 {
		t.Errorf("got %v", s)
	}
	n.expect(n.get("/debug"), 200, "function: hello")
	var d api.Debug
	if err := json.Unmarshal([]byte(n.get("/debug", "Accept", "application/json").body), &d); err != nil || len(d.Sandboxes) != 1 || d.Sandboxes[0].Uses != 2 {
		t.Errorf("got %+v, %v", d, err)
	}
	n.expect(n.get("/metrics"), 200, `ol_invocations_total{code="200",function="hello",start="cold"} 1`)
	n.expect(n.get("/metrics"), 200, `ol_memory_bytes{kind="used"} 5.24288e+07`)
	n.expect(n.get("/pprof/cpu-stop"), 400, "no CPU profile")
	n.expect(n.get("/pprof/cpu-start"), 200, "")
	n.expect(n.get("/pprof/cpu-start"), 400, "already")
	if r := n.get("/pprof/cpu-stop"); r.status != 200 || r.header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("got %d %v", r.status, r.header)
	}
	if r := n.get("/pprof/mem"); r.status != 200 || len(r.body) == 0 {
		t.Errorf("got %d", r.status)
	}
}

func TestLocalSocket(t *testing.T) {
	n := newNode(t, lambdas{"hello": hello}, nil, nil)
	path := filepath.Join(n.dir, "worker/ol.sock")
	fi, err := os.Stat(path)
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}
	defer tr.CloseIdleConnections()
	n.client, n.url = &http.Client{Transport: tr}, "http://local"
	n.expect(n.get("/pid"), 200, strconv.Itoa(os.Getpid()))
	n.expect(n.get("/run/hello"), 200, "hello")
}

func TestSecondWorkerInSameDirectory(t *testing.T) {
	n := newNode(t, lambdas{}, nil, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, err = New(Config{Settings: n.cfg.Settings, Provider: &fake.Provider{}, Listener: l})
	if err == nil || !strings.Contains(err.Error(), "another worker runs in this directory") {
		t.Errorf("got %v", err)
	}
	s := config.New(t.TempDir(), 4000)
	_, s.WorkerPort, err = net.SplitHostPort(n.Addr().String())
	errText(t, err, "")
	s.WorkerURL = "127.0.0.1"
	if _, err = New(Config{Settings: s, Provider: &fake.Provider{}}); err == nil || !strings.Contains(err.Error(), "-o worker_port=N") {
		t.Errorf("port in use: got %v", err)
	}
}

func TestTwoWorkersInOneProcess(t *testing.T) {
	a := newNode(t, lambdas{"hello": hello}, nil, nil)
	b := newNode(t, lambdas{"hello": hello}, nil, nil)
	a.expect(a.get("/run/hello"), 200, "hello")
	b.expect(b.get("/run/hello"), 200, "hello")
	if r := b.get("/run/hello"); r.header.Get(api.HeaderStart) != "warm" {
		t.Errorf("got %v", r.header)
	}
}

func TestStartsAfterKill(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "registry/f/f.py"), "code")
	// What kill -9 leaves: a socket nobody serves, code, half an upload.
	write(t, filepath.Join(dir, "worker/code/f/0123-1/f.py"), "stale")
	write(t, filepath.Join(dir, "worker/uploads/upload-1/archive"), "half")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "worker/ol.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	s := config.New(dir, 4000)
	n := startNode(t, dir, s, func(spec sandbox.Spec) (http.Handler, error) {
		b, err := os.ReadFile(filepath.Join(spec.Dir, "f.py"))
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(b) }), err
	})
	n.expect(n.get("/run/f"), 200, "code")
}

func TestDrains(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	n := newNode(t, lambdas{"slow": func(w http.ResponseWriter, r *http.Request) {
		close(started)
		<-release
		hello(w, r)
	}}, nil, nil)
	var wg sync.WaitGroup
	wg.Go(func() { n.expect(n.get("/run/slow"), 200, "hello") })
	<-started
	n.stop()
	deadline := time.Now().Add(20 * time.Second)
	for n.get("/status").status != 503 { // until the worker has noticed
		if time.Now().After(deadline) {
			t.Fatal("the worker does not stop")
		}
	}
	n.expect(n.get("/run/slow"), 503, "shutting down")
	close(release)
	wg.Wait()
	n.end()
}

func TestShutdownCutsWhatDoesNotEnd(t *testing.T) {
	started := make(chan struct{})
	n := newNode(t, lambdas{"ever": func(_ http.ResponseWriter, r *http.Request) {
		close(started)
		<-r.Context().Done()
	}}, nil, func(c *config.Config) { c.DrainSec = 1 })
	var wg sync.WaitGroup
	wg.Go(func() { n.expect(n.get("/run/ever"), 503, "shutting down") })
	<-started
	if err := n.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

func TestMinimumIsPrewarmed(t *testing.T) {
	n := newNode(t, lambdas{"ready": hello}, map[string]string{"ready": "min_sandboxes: 2"}, nil)
	deadline := time.Now().Add(20 * time.Second)
	for {
		if made, _ := n.provider.Made(); made == 2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing was started before the first call")
		}
		n.get("/status")
	}
	if r := n.get("/run/ready"); r.header.Get(api.HeaderStart) != "warm" {
		t.Errorf("got %v", r.header)
	}
}

func TestStartFailureIsTold(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "registry/f/f.py"), "code")
	n := startNode(t, dir, config.New(dir, 4000), func(sandbox.Spec) (http.Handler, error) {
		return nil, &sandbox.StartError{Lambda: true, Reason: "import error", Output: "ModuleNotFoundError: nothing"}
	})
	n.expect(n.get("/run/f"), 502, "ModuleNotFoundError")
	n.expect(n.get("/metrics"), 200, `ol_start_failures_total{fault="lambda"} 1`)
}
