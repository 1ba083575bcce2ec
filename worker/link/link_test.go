package link_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/open-lambda/open-lambda/worker/link"
	"github.com/open-lambda/open-lambda/worker/registry"
)

// bosses serves one lambda "f" with the given code; "" has none.
type fakeBoss struct {
	code atomic.Pointer[string]
	lie  atomic.Bool // the digest is another one's
}

func (b *fakeBoss) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	code := b.code.Load()
	switch {
	case r.Header.Get("Authorization") != "Bearer secret":
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == "/registry/":
		_, _ = io.WriteString(w, `["f"]`)
	case r.Method == http.MethodPost:
		text, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		s := string(text)
		b.code.Store(&s)
	case r.Method == http.MethodDelete:
		b.code.Store(nil)
	case code == nil:
		w.WriteHeader(http.StatusNotFound)
	default:
		sum := sha256.Sum256([]byte(*code))
		if b.lie.Load() {
			sum[0]++
		}
		w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:])+`"`)
		_, _ = io.WriteString(w, *code)
	}
}

func newRegistry(t *testing.T, dir string, urls ...string) *link.Registry {
	t.Helper()
	r, err := link.NewRegistry(urls, "secret", dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func fetch(t *testing.T, r *link.Registry) (string, error) {
	t.Helper()
	var b bytes.Buffer
	err := r.Fetch(t.Context(), "f", &b)
	return b.String(), err
}

func TestCodeOutlivesTheBosses(t *testing.T) {
	boss := &fakeBoss{}
	server := httptest.NewServer(boss)
	dir := t.TempDir()
	dead := httptest.NewServer(boss)
	dead.Close()
	r := newRegistry(t, dir, dead.URL, server.URL) // the first does not answer
	if _, _, err := r.Version(t.Context(), "f", ""); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if err := r.Put(t.Context(), "f", strings.NewReader("one")); err != nil {
		t.Fatal(err)
	}
	v1, _, err := r.Version(t.Context(), "f", "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fetch(t, r); err != nil || got != "one" {
		t.Errorf("got %q, %v", got, err)
	}
	server.Close()
	again := newRegistry(t, dir, dead.URL, server.URL) // a new start, and no boss at all
	if v, _, err := again.Version(t.Context(), "f", ""); err != nil || v != v1 {
		t.Errorf("got %q, %v", v, err)
	}
	if got, err := fetch(t, again); err != nil || got != "one" {
		t.Errorf("got %q, %v", got, err)
	}
	if names, err := again.List(t.Context()); err != nil || len(names) != 1 {
		t.Errorf("got %v, %v", names, err)
	}
	if _, _, err := again.Version(t.Context(), "other", ""); err == nil {
		t.Error("what was never fetched is there")
	}
}

func TestOnlyTheLastCodeIsKept(t *testing.T) {
	boss := &fakeBoss{}
	server := httptest.NewServer(boss)
	defer server.Close()
	dir := t.TempDir()
	r := newRegistry(t, dir, server.URL)
	for _, code := range []string{"one", "two", "two"} {
		if err := r.Put(t.Context(), "f", strings.NewReader(code)); err != nil {
			t.Fatal(err)
		}
		if got, err := fetch(t, r); err != nil || got != code {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("kept %v", files)
	}
	boss.lie.Store(true)
	if got, err := fetch(t, r); err != nil || got != "two" {
		t.Errorf("a damaged archive: got %q, %v", got, err)
	}
	boss.lie.Store(false)
	if err := r.Delete(t.Context(), "f"); err != nil {
		t.Fatal(err)
	}
	if _, err := fetch(t, r); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("kept %v", files)
	}
	if err := os.WriteFile(filepath.Join(dir, ".get-123"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	newRegistry(t, dir, server.URL)
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("what was left half done stayed: %v", files)
	}
}

func TestBadLink(t *testing.T) {
	for _, cfg := range []link.Config{{}, {Name: "w", URL: "http://w"}} {
		if _, err := link.New(cfg); err == nil {
			t.Errorf("%+v was accepted", cfg)
		}
	}
}
