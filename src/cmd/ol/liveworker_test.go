package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
)

// liveWorker is a worker in this process, with real sandboxes.
type liveWorker struct {
	t    *testing.T
	dir  string
	url  string
	end  func()
	logs *lineLog
}

// lineLog shows a worker's log in the test and remembers it.
type lineLog struct {
	t *testing.T

	mu   sync.Mutex
	text strings.Builder
}

func (l *lineLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.t.Log(strings.TrimSpace(string(p)))
	l.text.Write(p)
	return len(p), nil
}

func (l *lineLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// startLive starts a worker in dir with options as for -o. It ends with the
// test, or before by end.
func startLive(t *testing.T, dir, options string) *liveWorker {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: sandboxes need root")
	}
	if failed := firstFailed(examine(t.Context())); failed != nil || checkPython(t.Context()).Verdict != checkOK {
		t.Skipf("NOT RUN: this machine cannot run sandboxes: %v", failed)
	}
	logs := &lineLog{t: t}
	s := streams{in: strings.NewReader(""), out: io.Discard, err: logs, dir: dir}
	if _, err := initialise(t.Context(), s, dir, imageHost); err != nil {
		t.Fatal(err)
	}
	cfg, err := loadConfig(dir, config.Sources{File: filepath.Join(dir, configFile), Overrides: "worker_port=0,pool_size=2,registry_cache_ms=200," + options})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorker(t.Context(), s, node{dir, cfg}, l, nil, slog.New(slog.NewTextHandler(logs, nil)))
	if err != nil {
		t.Fatal(errors.Join(err, l.Close()))
	}
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(context.Background())
	go func() { ended <- w.Run(ctx) }()
	n := &liveWorker{t: t, dir: dir, url: "http://" + l.Addr().String(), logs: logs}
	n.end = sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("worker: %v", err)
		}
	})
	t.Cleanup(n.end)
	return n
}

// put writes a lambda into the registry: names and texts of its files. It is
// there whole or not at all, for a worker that starts looks at every one.
func (n *liveWorker) put(name string, nameText ...string) {
	n.t.Helper()
	dir, final := filepath.Join(n.dir, "new-"+name), filepath.Join(n.dir, "registry", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		n.t.Fatal(err)
	}
	for i := 0; i+1 < len(nameText); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, nameText[i]), []byte(nameText[i+1]), 0o644); err != nil {
			n.t.Fatal(err)
		}
	}
	if err := errors.Join(os.RemoveAll(final), os.Rename(dir, final)); err != nil {
		n.t.Fatal(err)
	}
}

// call calls a lambda and returns status and body.
func (n *liveWorker) call(name string) (int, string) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), 3*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url+api.PathRun+name, strings.NewReader("{}"))
	if err != nil {
		n.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		n.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func (n *liveWorker) expect(name string, status int, body string) {
	n.t.Helper()
	if s, b := n.call(name); s != status || !strings.Contains(b, body) {
		n.t.Errorf("%s: got %d %s, want %d with %s", name, s, b, status, body)
	}
}

// problem calls a lambda that cannot run.
func (n *liveWorker) problem(name string) api.Problem {
	n.t.Helper()
	_, body := n.call(name)
	var p api.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		n.t.Fatalf("%s: %v: %s", name, err, body)
	}
	return p
}

// pulled is what tools read as the number of installed packages.
func (n *liveWorker) pulled() float64 {
	n.t.Helper()
	resp, err := http.Get(n.url + api.PathStats)
	if err != nil {
		n.t.Fatal(err)
	}
	defer resp.Body.Close()
	var stats map[string]float64
	if err := json.NewDecoder(resp.Body).Decode(&stats); err != nil {
		n.t.Fatal(err)
	}
	return stats["pull-package.cnt"]
}

func (n *liveWorker) installed() []string {
	n.t.Helper()
	entries, err := os.ReadDir(filepath.Join(n.dir, "lambda/packages"))
	if err != nil {
		n.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}
