package logs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/worker/fault"
)

// openLogs counts the store's open files.
func openLogs(s *Store) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if f.f != nil {
			n++
		}
	}
	return n
}

// A file is open while there are sandboxes of its function, and what is known of
// a function that is gone goes with its last sandbox.
func TestFilesAreClosed(t *testing.T) {
	s, _ := newStore(t, nil)
	var all []io.WriteCloser
	for i := range 20 {
		w := s.Sandbox(fmt.Sprint("f", i%10))
		fmt.Fprintln(w, "line")
		all = append(all, w)
	}
	if n := openLogs(s); n != 10 {
		t.Errorf("%d files are open", n)
	}
	s.Forget("f0")
	s.Forget("never-there")
	for i, w := range all {
		if err := errors.Join(w.Close(), w.Close()); err != nil {
			t.Error(err)
		}
		if n := openLogs(s); n != min(10, 19-i) {
			t.Errorf("%d files are open after %d were closed", n, i+1)
		}
	}
	fmt.Fprintln(all[0], "a last word")
	if n := openLogs(s); n != 0 || len(s.files) != 9 {
		t.Errorf("%d files are open, %d are known", n, len(s.files))
	}
	if text := read(t, s.Path("f0")); strings.Count(text, "line\n") != 2 || !strings.Contains(text, "a last word\n") {
		t.Errorf("the log of the function that is gone is %q", text)
	}
	s.Forget("f1")
	if len(s.files) != 8 {
		t.Errorf("%d are known", len(s.files))
	}
	again := s.Sandbox("f1")
	fmt.Fprintln(again, "back")
	if text := read(t, s.Path("f1")); strings.Count(text, "\n") != 3 {
		t.Errorf("the log is %q", text)
	}
	if err := again.Close(); err != nil || s.files["f1"] == nil {
		t.Errorf("the function that came back is forgotten: %v", err)
	}
}

// The line after one that is not whole begins anew.
func TestTornLines(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: making a file system needs root")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID, "size=8k"); err != nil {
		t.Skipf("NOT RUN: making a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s, _ := newStore(t, func(cfg *Config) { cfg.Dir = dir })
	w := s.Sandbox("f")
	defer w.Close()
	for i := range 200 { // more than there is room for
		fmt.Fprintf(w, "line %d %s\n", i, strings.Repeat("x", 50))
	}
	if err := os.Truncate(s.Path("f"), 8<<10-1000); err != nil { // in the middle of a line
		t.Fatal(err)
	}
	fmt.Fprintln(w, "afterwards")
	text := read(t, s.Path("f"))
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	last := lines[len(lines)-2:]
	if !strings.HasPrefix(last[0], "2026-") || !strings.HasSuffix(last[0], "lines lost: the disk did not take them]") || !strings.HasSuffix(last[1], " afterwards") {
		t.Errorf("the log ends with %q", last)
	}
	for _, line := range lines[:50] {
		if !strings.HasPrefix(line, "2026-01-02T") {
			t.Errorf("line %q", line)
		}
	}
}

// Lines that the disk did not take are counted once, and admitted before the
// next that it takes.
func TestLostLinesAreAdmitted(t *testing.T) {
	var short atomic.Bool
	s, _ := newStore(t, func(cfg *Config) {
		cfg.Fault = func(fault.Point) error {
			if short.Load() {
				return unix.ENOSPC
			}
			return nil
		}
	})
	w := s.Sandbox("f")
	defer w.Close()
	for i, lost := range []int{3, 0, 1} {
		short.Store(true)
		for range lost {
			fmt.Fprintln(w, "lost")
		}
		short.Store(false)
		fmt.Fprintln(w, "kept", i)
	}
	var got []string
	for line := range strings.Lines(read(t, s.Path("f"))) {
		_, text, _ := strings.Cut(line, " - ")
		got = append(got, strings.TrimSpace(text))
	}
	want := "[3 lines lost: the disk did not take them]|kept 0|kept 1|[1 lines lost: the disk did not take them]|kept 2"
	if strings.Join(got, "|") != want {
		t.Errorf("the log is %q", got)
	}
}
