package registry

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// A registry that cannot be read says so. It does not say that lambdas are gone,
// or lack files.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"f/f.py", "f/sub/m.py", "g/f.py"} {
		path := filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("1"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before, _, err := r.Version(t.Context(), "f", "")
	if err != nil {
		t.Fatal(err)
	}
	short := shortOfDescriptors(t)
	for what, try := range map[string]func() error{
		"version": func() error { _, _, err := r.Version(t.Context(), "f", ""); return err },
		"fetch":   func() error { return r.Fetch(t.Context(), "f", io.Discard) },
		"delete":  func() error { return r.Delete(t.Context(), "f") },
		"list":    func() error { _, err := r.List(t.Context()); return err },
	} {
		if err := try(); !errors.Is(err, unix.EMFILE) {
			t.Errorf("%s gives %v", what, err)
		}
	}
	short()
	after, _, err := r.Version(t.Context(), "f", "")
	if err != nil || after != before {
		t.Errorf("version %q, before %q: %v", after, before, err)
	}
	if names, err := r.List(t.Context()); err != nil || !slices.Equal(names, []string{"f", "g"}) {
		t.Errorf("list gives %q, %v", names, err)
	}
}

// shortOfDescriptors leaves this process none, until the function that it
// returns is called, or the test ends.
func shortOfDescriptors(t *testing.T) (over func()) {
	t.Helper()
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull) // the lowest that is free
	if err != nil {
		t.Fatal(err)
	}
	none := unix.Rlimit{Cur: uint64(null.Fd()), Max: was.Max}
	null.Close()
	restore := func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(restore)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	return restore
}
