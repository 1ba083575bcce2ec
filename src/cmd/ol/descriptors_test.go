package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/src/api"
)

// A worker that has no descriptors left answers nobody wrongly: with 503, or
// late, when it has some again. Then all is as before.
func TestFaultWithoutDescriptors(t *testing.T) {
	for _, kind := range []string{"sock", sandboxRunc} {
		t.Run(kind, func(t *testing.T) { withoutDescriptors(t, kind) })
	}
}

func withoutDescriptors(t *testing.T, kind string) {
	if _, err := requireRunc("test"); kind == sandboxRunc && err != nil {
		t.Skipf("NOT RUN: %v", err)
	}
	w := startPoor(t, "sandbox="+kind+",network=none,pool_size=1,registry_cache_ms=200")
	w.expect("f0", http.StatusOK)
	w.expect("f1", http.StatusOK)
	before := w.atRest()
	w.allow(uint64(before) + 2)
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() { w.tolerate(fmt.Sprint("f", i%8)) })
	}
	wg.Wait()
	w.allow(w.most)
	for i := range 8 {
		await(t, "an answer from all lambdas", func() bool {
			status, body, err := w.call(fmt.Sprint("f", i), time.Minute)
			return err == nil && status == http.StatusOK && body == fmt.Sprintf("%q", fmt.Sprint("f", i))
		})
	}
	for i := range 8 {
		resp, err := w.node.call(t.Context(), http.MethodDelete, api.PathRegistry+fmt.Sprint("f", i), http.NoBody, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	await(t, "descriptors to be given back", func() bool { return w.descriptors() <= before+8 })
}

// poorWorker is a worker in a process of its own whose descriptors can be
// bounded.
type poorWorker struct {
	*tempWorker
	t      *testing.T
	most   uint64 // that it may have otherwise
	client *http.Client
}

func startPoor(t *testing.T, options string) *poorWorker {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: sandboxes need root")
	}
	if failed := firstFailed(examine(t.Context())); failed != nil || checkPython(t.Context()).Verdict != checkOK {
		t.Skipf("NOT RUN: this machine cannot run sandboxes: %v", failed)
	}
	runtime.LockOSThread() // the kernel ends the worker with the thread that started it
	dir := t.TempDir()
	s := streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard, dir: dir}
	for i := range 8 {
		lambda := filepath.Join(dir, "worker", "registry", fmt.Sprint("f", i))
		text := fmt.Sprintf("def f(event):\n    return %q\n", fmt.Sprint("f", i))
		if err := errors.Join(os.MkdirAll(lambda, 0o755), os.WriteFile(filepath.Join(lambda, "f.py"), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	w, err := startTempWorker(t.Context(), s, filepath.Join(dir, "worker"), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.stop(); err != nil {
			t.Error(err)
		}
		runtime.UnlockOSThread()
	})
	var now unix.Rlimit
	if err := unix.Prlimit(w.pid, unix.RLIMIT_NOFILE, nil, &now); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return &poorWorker{w, t, now.Cur, client}
}

// allow bounds the descriptors; those that are open stay.
func (w *poorWorker) allow(n uint64) {
	w.t.Helper()
	limit := unix.Rlimit{Cur: n, Max: w.most}
	if err := unix.Prlimit(w.pid, unix.RLIMIT_NOFILE, &limit, nil); err != nil {
		w.t.Fatal(err)
	}
}

func (w *poorWorker) descriptors() int {
	w.t.Helper()
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", w.pid))
	if err != nil {
		w.t.Fatal(err)
	}
	return len(all)
}

// atRest counts descriptors once the worker has made everything that it makes
// ahead, each of which takes some: once their number stays for long enough that
// it would have begun to.
func (w *poorWorker) atRest() (n int) {
	w.t.Helper()
	same := 0
	await(w.t, "the worker to rest", func() bool {
		if now := w.descriptors(); now != n {
			n, same = now, 0
		}
		same++
		return same > 10
	})
	return n
}

func (w *poorWorker) call(name string, limit time.Duration) (status int, body string, err error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.node.url(api.PathRun+name), strings.NewReader("{}"))
	if err != nil {
		return 0, "", err
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, strings.TrimSpace(string(text)), err
}

func (w *poorWorker) expect(name string, want int) {
	w.t.Helper()
	if status, body, err := w.call(name, time.Minute); err != nil || status != want {
		w.t.Errorf("%s: %d %s, %v", name, status, body, err)
	}
}

// tolerate wants the right answer, a 503 that says why, or none in time.
func (w *poorWorker) tolerate(name string) {
	status, body, err := w.call(name, 5*time.Second)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
	case err != nil:
		w.t.Errorf("%s: %v", name, err)
	case status == http.StatusOK && body == fmt.Sprintf("%q", name):
	case status != http.StatusServiceUnavailable || !strings.Contains(body, `"reason"`):
		w.t.Errorf("%s: %d %s", name, status, body)
	}
	w.t.Logf("%s: %d %.200s %v", name, status, body, err)
}
