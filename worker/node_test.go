package worker

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/worker/fake"
	"github.com/open-lambda/open-lambda/worker/sandbox"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is a worker over fake sandboxes, on a port of the loopback interface.
type node struct {
	*Worker
	t        *testing.T
	dir      string
	url      string
	provider *fake.Provider
	client   *http.Client
	ended    chan error
	stop     context.CancelFunc
}

// lambdas are handlers by name; each has an f.py in the registry, whose text
// the handler finds in the header X-Code, and may have an ol.yaml.
type lambdas map[string]http.HandlerFunc

func newNode(t *testing.T, ls lambdas, yaml map[string]string, change func(*config.Config)) *node {
	t.Helper()
	dir := t.TempDir()
	for name := range ls {
		write(t, filepath.Join(dir, "registry", name, "f.py"), "1")
	}
	for name, text := range yaml {
		write(t, filepath.Join(dir, "registry", name, "ol.yaml"), text)
	}
	s := config.New(dir, 4000)
	s.RegistryCacheMS, s.Limits.MemMB, s.Limits.RuntimeSec = 200, 50, 20
	if change != nil {
		change(&s)
	}
	return startNode(t, dir, s, func(spec sandbox.Spec) (http.Handler, error) {
		code, err := os.ReadFile(filepath.Join(spec.Dir, "f.py"))
		if err != nil {
			return nil, &sandbox.StartError{Lambda: true, Reason: err.Error()}
		}
		h := ls[spec.Function]
		if h == nil {
			h = func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(code) }
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Set("X-Code", string(code))
			h(w, r)
		}), nil
	})
}

func startNode(t *testing.T, dir string, s config.Config, start func(sandbox.Spec) (http.Handler, error)) *node {
	t.Helper()
	return startNodeWith(t, dir, s, nil, start)
}

// startNodeWith is startNode with another registry than that of s.
func startNodeWith(t *testing.T, dir string, s config.Config, r Registry, start func(sandbox.Spec) (http.Handler, error)) *node {
	t.Helper()
	return startNodeOn(t, dir, Config{Settings: s, Registry: r}, start)
}

// startNodeOn is startNode with more of the worker's configuration.
func startNodeOn(t *testing.T, dir string, cfg Config, start func(sandbox.Spec) (http.Handler, error)) *node {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, dir: dir, ended: make(chan error, 1)}
	n.provider = &fake.Provider{Start: func(_ context.Context, spec sandbox.Spec) (http.Handler, error) { return start(spec) }}
	cfg.Provider, cfg.Name, cfg.Listener = n.provider, "w1", l
	n.Worker, err = New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	n.url = "http://" + n.Addr().String()
	n.client = &http.Client{
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 100},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       time.Minute,
	}
	ctx, stop := context.WithCancel(context.Background())
	n.stop = stop
	go func() { n.ended <- n.Run(ctx) }()
	t.Cleanup(n.end)
	return n
}

// end stops the worker and checks that nothing is left. Once only.
func (n *node) end() {
	n.stop()
	if n.ended == nil {
		return
	}
	if err := <-n.ended; err != nil {
		n.t.Error(err)
	}
	n.ended = nil
	n.client.CloseIdleConnections()
	if live := n.provider.Live(); len(live) != 0 || !n.provider.Closed() {
		n.t.Errorf("%d sandboxes are left, provider closed: %v", len(live), n.provider.Closed())
	}
	for _, left := range []string{"worker/ol.sock", "worker/code"} {
		if _, err := os.Stat(filepath.Join(n.dir, left)); err == nil {
			n.t.Errorf("%s is left", left)
		}
	}
	if left, err := os.ReadDir(filepath.Join(n.dir, "worker/uploads")); err != nil || len(left) > 0 {
		n.t.Errorf("uploads left: %v, %v", left, err)
	}
}

type reply struct {
	status int
	header http.Header
	body   string
}

func (n *node) do(method, path string, body io.Reader, header ...string) reply {
	n.t.Helper()
	req, err := http.NewRequestWithContext(n.t.Context(), method, n.url+path, body)
	if err != nil {
		n.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	resp, err := n.client.Do(req)
	if err != nil {
		n.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		n.t.Errorf("%s %s: read answer: %v", method, path, err)
	}
	return reply{resp.StatusCode, resp.Header, string(b)}
}

func (n *node) get(path string, header ...string) reply {
	n.t.Helper()
	return n.do(http.MethodGet, path, nil, header...)
}

// expect checks status and a part of the body.
func (n *node) expect(r reply, status int, part string) {
	n.t.Helper()
	if r.status != status || !strings.Contains(r.body, part) {
		n.t.Errorf("got %d %q, want %d with %q", r.status, r.body, status, part)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err = errors.Join(err, os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// pack makes a tar.gz of names and texts.
func pack(t *testing.T, nameText ...string) *bytes.Reader {
	t.Helper()
	var buf bytes.Buffer
	gz := gzip.NewWriter(&buf)
	tw := tar.NewWriter(gz)
	for i := 0; i+1 < len(nameText); i += 2 {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: nameText[i], Size: int64(len(nameText[i+1])), Mode: 0o644}
		_, err := io.WriteString(tw, errText(t, tw.WriteHeader(h), nameText[i+1]))
		errText(t, err, "")
	}
	errText(t, errors.Join(tw.Close(), gz.Close()), "")
	return bytes.NewReader(buf.Bytes())
}

func errText(t *testing.T, err error, s string) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

func echo(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	_, _ = w.Write(b)
}
