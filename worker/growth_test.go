package worker

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
)

// holds is what a worker holds.
type holds struct{ bytes, files, series, open int }

func (n *node) holds() holds {
	n.t.Helper()
	n.client.CloseIdleConnections()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		n.t.Fatal(err)
	}
	h := holds{open: len(fds), series: strings.Count(n.get(api.PathMetrics).body, "\n")}
	for _, dir := range []string{"worker/code", "worker/uploads", "registry"} {
		found, err := filepath.Glob(filepath.Join(n.dir, dir, "*"))
		if err != nil {
			n.t.Fatal(err)
		}
		h.files += len(found)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first has made unreachable by its finalizers
	runtime.ReadMemStats(&m)
	h.bytes = int(m.HeapAlloc)
	return h
}

// A worker to which lambdas come and from which they go again, each with a name
// of its own, holds no more after many of them than after some. What it
// remembers of those that are gone is bounded.
func TestNothingGrowsWithLambdasThatAreGone(t *testing.T) {
	dir := t.TempDir()
	s := config.New(dir, 4000)
	s.RegistryCacheMS = 0
	n := startNodeOn(t, dir, Config{Settings: s}, speakCode)
	made := 0
	comeAndGo := func(times int) holds {
		for range times {
			made++
			name := fmt.Sprintf("lambda-%d", made)
			n.expect(n.do(http.MethodPost, api.PathRegistry+name, pack(t, "f.py", name)), http.StatusCreated, "")
			n.expect(n.do(http.MethodPost, api.PathRun+name, strings.NewReader("printed")), http.StatusOK, name)
			n.expect(n.do(http.MethodDelete, api.PathRegistry+name, nil), http.StatusOK, "")
			n.expect(n.get(api.PathRun+name), http.StatusNotFound, "unknown-lambda")
		}
		return n.holds()
	}
	before := comeAndGo(rememberGone + 50)
	after := comeAndGo(2 * rememberGone)
	t.Logf("after %d lambdas %+v, after %d %+v", rememberGone+50, before, made, after)
	// The names that were asked for in vain are remembered too, 1,024 of them.
	// Before there was a bound it were 4,200 bytes for each lambda.
	if grown := (after.bytes - before.bytes) / (2 * rememberGone); grown > 500 {
		t.Errorf("the heap has grown by %d bytes for each lambda that is gone", grown)
	}
	if after.open > before.open+5 || after.files > before.files || after.series > before.series+50 {
		t.Errorf("after %d lambdas there are %+v, before %+v", made, after, before)
	}
}

// A lambda that was gone long ago and comes back is served as any other, and
// counted anew.
func TestLambdaComesBackAfterItWasForgotten(t *testing.T) {
	n := newNode(t, lambdas{"f": hello}, nil, func(s *config.Config) { s.RegistryCacheMS = 0 })
	n.expect(n.get(api.PathRun+"f"), http.StatusOK, "hello")
	n.expect(n.do(http.MethodDelete, api.PathRegistry+"f", nil), http.StatusOK, "")
	n.expect(n.get(api.PathRun+"f"), http.StatusNotFound, "unknown-lambda")
	for i := range rememberGone {
		n.functions.forgetOldest(fmt.Sprint("other", i))
	}
	if _, ok := n.functions.all.Load("f"); ok {
		t.Error("it is still remembered")
	}
	if text := n.get(api.PathMetrics).body; strings.Contains(text, `function="f"`) {
		t.Error("its counters are there")
	}
	for range 2 {
		n.expect(n.do(http.MethodPost, api.PathRegistry+"f", pack(t, "f.py", "1")), http.StatusCreated, "")
		n.expect(n.get(api.PathRun+"f"), http.StatusOK, "hello")
	}
	n.counted("f", map[string]string{`code="200",function="NAME",start="cold"`: "1", `code="200",function="NAME",start="warm"`: "1"})
}
