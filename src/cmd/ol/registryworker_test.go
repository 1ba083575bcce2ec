package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/config"
)

const registryDir = "../../../test-registry"

// registryPatience bounds one request on a slow, shared machine.
const registryPatience = 2 * time.Minute

// registryWorker is a worker with real sandboxes in this process.
type registryWorker struct {
	t    *testing.T
	node node
}

// startRegistryWorker serves until the test is over. base is a value of
// sock_base_path, options are as for -o.
func startRegistryWorker(t *testing.T, base, options string) *registryWorker {
	t.Helper()
	live := startLive(t, t.TempDir(), strings.TrimSuffix("mem_pool_mb=1500,sock_base_path="+base+","+options, ","))
	host, port, err := net.SplitHostPort(strings.TrimPrefix(live.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return &registryWorker{t, node{dir: live.dir, config: config.Config{WorkerURL: host, WorkerPort: port}}}
}

// install packs a directory as "ol admin install" does and uploads it.
func (w *registryWorker) install(name, dir string) {
	w.t.Helper()
	packed, _, err := (&stage{dir: dir}).pack()
	if err == nil {
		err = w.node.upload(w.t.Context(), name, packed)
	}
	if err != nil {
		w.t.Fatalf("install %s: %v", name, err)
	}
}

// installSource installs a lambda that is one file.
func (w *registryWorker) installSource(name, source string) {
	w.t.Helper()
	dir := w.t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f.py"), []byte(source), 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.install(name, dir)
}

// reply is what came back, with the whole body.
type reply struct {
	status int
	header http.Header
	body   string
}

func (a reply) String() string { return fmt.Sprintf("%d %v %.2000q", a.status, a.header, a.body) }

// send sends one request; target is method and path, "POST /run/echo".
func (w *registryWorker) send(target, body string, header http.Header) reply {
	w.t.Helper()
	a, err := w.try(target, body, header)
	if err != nil {
		w.t.Fatalf("%s: %v", target, err)
	}
	return a
}

// try is for goroutines other than the test's own.
func (w *registryWorker) try(target, body string, header http.Header) (reply, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), registryPatience)
	defer cancel()
	method, path, _ := strings.Cut(target, " ")
	resp, err := w.node.call(ctx, method, path, bytes.NewReader([]byte(body)), header)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(text)}, err
}
