package boss_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/boss"
	"github.com/open-lambda/open-lambda/boss/registry"
	"github.com/open-lambda/open-lambda/boss/registry/memory"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
	"github.com/open-lambda/open-lambda/worker/code"
	"github.com/open-lambda/open-lambda/worker/link"
	own "github.com/open-lambda/open-lambda/worker/registry"
)

// reader is a worker that finds code as a real one does, and answers with it
// instead of running it.
type reader struct {
	cache *code.Cache
	deaf  bool // notices do not reach it
}

func (r *reader) Load() api.Load               { return api.Load{} }
func (r *reader) Drain(bool)                   {}
func (r *reader) Kafka(string, []string, bool) {}
func (r *reader) Changed(names []string) {
	for _, n := range names {
		if !r.deaf {
			r.cache.Changed(n)
		}
	}
}

func (r *reader) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	v, err := r.cache.Get(in.Context(), strings.TrimPrefix(in.URL.Path, api.PathRun), in.Header.Get(api.HeaderStamp))
	var behind *code.BehindError
	switch {
	case errors.Is(err, own.ErrNotFound):
		http.Error(w, "the worker knows no such lambda", http.StatusNotFound)
		return
	case errors.As(err, &behind):
		w.Header().Set(api.HeaderNotStarted, "true")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if !v.Retain() { // replaced since, and removed
		w.Header().Set(api.HeaderNotStarted, "true")
		http.Error(w, "replaced", http.StatusServiceUnavailable)
		return
	}
	defer v.Release()
	text, err := os.ReadFile(filepath.Join(v.Dir, "f.py"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(text)
}

// startReaders starts workers that ask again after an hour only, unless they
// are told.
func startReaders(t *testing.T, n int, deaf bool, bosses ...*runningBoss) {
	t.Helper()
	var urls []string
	for _, b := range bosses {
		urls = append(urls, b.url)
	}
	for i := range n {
		source, err := link.NewRegistry(urls, "", t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r := &reader{deaf: deaf}
		r.cache, err = code.New(code.Config{
			Source: source, Dir: filepath.Join(t.TempDir(), "code"), Fresh: time.Hour,
			Limits: archive.DefaultLimits(), Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewServer(r)
		l, err := link.New(link.Config{Bosses: urls, Name: "reader" + strconv.Itoa(i), URL: s.URL, Node: r})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { l.Run(ctx) })
		t.Cleanup(func() { cancel(); wg.Wait(); s.Close(); r.cache.Close(); _ = source.Close() })
	}
	for _, b := range bosses {
		awaitState(t, b, "up", n)
	}
}

func remove(t *testing.T, b *runningBoss, name string) {
	t.Helper()
	if resp, body := get(t, http.MethodDelete, b.url+api.PathRegistry+name, nil, nil); resp.StatusCode != http.StatusOK {
		t.Fatalf("remove: %s: %s", resp.Status, body)
	}
}

// runs checks what an invocation by way of a boss answers at once.
func runs(t *testing.T, b *runningBoss, name string, status int, what string) {
	t.Helper()
	resp, body := get(t, http.MethodPost, b.url+api.PathRun+name, nil, nil)
	if resp.StatusCode != status || !strings.Contains(string(body), what) {
		t.Errorf("got %s: %s, want %d with %q", resp.Status, body, status, what)
	}
}

// What a boss has acknowledged is what is run by way of this boss, also by
// workers that no notice reaches.
func TestWhatWasInstalledRunsAtOnce(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		t.Run("deaf "+strconv.FormatBool(deaf), func(t *testing.T) {
			s := memory.New()
			b := startBoss(t, boss.Config{Registry: newRegistry(t, s), Placer: "round-robin"})
			startReaders(t, 3, deaf, b)
			for round := range 10 {
				first, second := "first of "+strconv.Itoa(round), "second of "+strconv.Itoa(round)
				install(t, b, "f", first)
				for range 3 {
					runs(t, b, "f", http.StatusOK, first)
				}
				install(t, b, "f", second)
				for range 3 {
					runs(t, b, "f", http.StatusOK, second)
				}
				remove(t, b, "f")
				runs(t, b, "f", http.StatusNotFound, "unknown-lambda")
			}
		})
	}
}

// A worker that found a lambda missing asks again once a boss knows it.
func TestWorkerThatFoundItMissingAsksAgain(t *testing.T) {
	s := memory.New()
	b := startBoss(t, boss.Config{Registry: newRegistry(t, s)})
	r, err := registry.New(registry.Config{Meta: s, Code: s.Code(), Scratch: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	// A boss that has not read its store lets everything pass.
	other := startBoss(t, boss.Config{})
	startReaders(t, 1, true, b, other)
	runs(t, other, "f", http.StatusNotFound, "the worker knows no such lambda")
	install(t, b, "f", "there")
	runs(t, b, "f", http.StatusOK, "there")
	if r.Exists("f") != true { // it follows nothing yet
		t.Error("a registry that has read nothing denies a lambda")
	}
}

// Updates under load: whoever calls after an update was acknowledged, or after
// somebody was answered by it, is not answered by an older one.
func TestNeverOlderCodeAfterNewer(t *testing.T) {
	s := memory.New()
	b := startBoss(t, boss.Config{Registry: newRegistry(t, s), Placer: "round-robin"})
	startReaders(t, 3, false, b)
	install(t, b, "f", "version 0.")
	var floor atomic.Int64 // the newest version that anybody has got, or that was acknowledged
	raise := func(n int64) {
		for old := floor.Load(); old < n && !floor.CompareAndSwap(old, n); old = floor.Load() {
		}
	}
	done := make(chan struct{})
	var calls atomic.Int64
	var wg sync.WaitGroup
	c := client(t)
	for range 6 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				least := floor.Load()
				got, err := version(c, b.url)
				if err != nil || got < least {
					t.Errorf("got version %d after %d: %v", got, least, err)
					return
				}
				raise(got)
				calls.Add(1)
			}
		})
	}
	for n := range int64(30) {
		before := calls.Load()
		install(t, b, "f", "version "+strconv.FormatInt(n+1, 10)+".")
		raise(n + 1)
		await(t, "some calls", func() bool { return t.Failed() || calls.Load() > before+10 })
	}
	close(done)
	wg.Wait()
	t.Logf("%d calls", calls.Load())
}

// version calls f and finds the number in what it answers.
func version(c *http.Client, url string) (int64, error) {
	resp, err := c.Post(url+"/run/f", "text/plain", nil)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return 0, errors.Join(err, errors.New(resp.Status+": "+string(text)))
	}
	_, rest, _ := strings.Cut(string(text), "version ")
	number, _, _ := strings.Cut(rest, ".")
	return strconv.ParseInt(number, 10, 64)
}
