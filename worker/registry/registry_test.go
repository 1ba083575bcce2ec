package registry

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/archive"
)

func newRegistry(t *testing.T) (*Registry, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "registry")
	r, err := Open(t.Context(), "file://"+dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err = errors.Join(err, os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func TestPutFetchDelete(t *testing.T) {
	r, dir := newRegistry(t)
	ctx := t.Context()
	if err := r.Put(ctx, "echo", strings.NewReader("one")); err != nil {
		t.Fatal(err)
	}
	v1, _, err := r.Version(ctx, "echo", "")
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if err := r.Fetch(ctx, "echo", &buf); err != nil || buf.String() != "one" {
		t.Errorf("got %q, %v", &buf, err)
	}
	if err := r.Put(ctx, "echo", strings.NewReader("two!")); err != nil {
		t.Fatal(err)
	}
	if v2, _, err := r.Version(ctx, "echo", ""); err != nil || v1 == v2 {
		t.Errorf("the version did not change: %q, %v", v2, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 || entries[0].Name() != "echo.tar.gz" {
		t.Errorf("the registry holds %v", entries)
	}
	if err := r.Delete(ctx, "echo"); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"delete": r.Delete(ctx, "echo"), "fetch": r.Fetch(ctx, "echo", &buf), "version": version(ctx, r, "echo"),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

func version(ctx context.Context, r *Registry, name string) error {
	_, _, err := r.Version(ctx, name, "")
	return err
}

func TestDirectory(t *testing.T) {
	r, dir := newRegistry(t)
	ctx := t.Context()
	write(t, filepath.Join(dir, "hello/f.py"), "code")
	write(t, filepath.Join(dir, "hello/sub/x"), "data")
	v1, _, err := r.Version(ctx, "hello", "")
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if err := r.Fetch(ctx, "hello", &buf); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "x")
	if err := archive.Extract(&buf, out, archive.DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(out, "sub/x")); err != nil || string(b) != "data" {
		t.Errorf("got %q, %v", b, err)
	}
	write(t, filepath.Join(dir, "hello/f.py"), "longer code")
	if v2, _, err := r.Version(ctx, "hello", ""); err != nil || v1 == v2 {
		t.Errorf("the version did not change: %v", err)
	}
	if err := r.Delete(ctx, "hello"); err != nil {
		t.Error(err)
	}
	if err := version(ctx, r, "hello"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestListIgnoresWhatIsNoLambda(t *testing.T) {
	r, dir := newRegistry(t)
	for _, f := range []string{"b.tar.gz", "a/f.py", "c.tar.gz", "c/f.py", "notes.txt", "odd name.tar.gz", "é/f.py"} {
		write(t, filepath.Join(dir, f), "x")
	}
	got, err := r.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a", "b", "c"}, got); d != "" {
		t.Error(d)
	}
}

func TestBadNames(t *testing.T) {
	r, _ := newRegistry(t)
	var ne *lambda.NameError
	for what, err := range map[string]error{
		"put": r.Put(t.Context(), "../x", strings.NewReader("")), "delete": r.Delete(t.Context(), ".."),
		"fetch": r.Fetch(t.Context(), "a/b", &bytes.Buffer{}), "version": version(t.Context(), r, ""),
	} {
		if !errors.As(err, &ne) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

func TestOpenUnknownScheme(t *testing.T) {
	if _, err := Open(t.Context(), "ftp://x", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "open registry ftp://x") {
		t.Errorf("got %v", err)
	}
}

// cutter is where an archive is written to while its source shrinks.
type cutter struct{ cut func() }

func (c *cutter) Write(p []byte) (int, error) {
	c.cut()
	return len(p), nil
}

func TestFileChangesWhileRead(t *testing.T) {
	r, dir := newRegistry(t)
	path := filepath.Join(dir, "a/f.py")
	noise := make([]byte, 4<<20) // does not shrink, so the archive is written while this is read
	rand.NewChaCha8([32]byte{}).Read(noise)
	write(t, path, string(noise))
	err := r.Fetch(t.Context(), "a", &cutter{func() {
		if err := os.Truncate(path, 10); err != nil {
			t.Error(err)
		}
	}})
	if !errors.Is(err, ErrChanged) {
		t.Errorf("got %v", err)
	}
}
