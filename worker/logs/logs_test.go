package logs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func newStore(t *testing.T, change func(*Config)) (*Store, *clock) {
	t.Helper()
	c := &clock{t: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)}
	cfg := Config{Dir: filepath.Join(t.TempDir(), "logs"), Max: 1 << 20, Now: c.now}
	if change != nil {
		change(&cfg)
	}
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, c
}

type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestLinesAndMarks(t *testing.T) {
	const in = "loading\n\x1eB id-1\nhello\nwor" + "ld\r\n\n\x1eE id-1\nbetween\n\x1eB id-2\nno newline\x1eE id-2\n\x1eB bad id\nlast\n"
	want := "loading|-\nhello|id-1\nworld|id-1\n|id-1\nbetween|-\nno newline|-\n\x1eB bad id|-\nlast|-\n"
	for _, size := range []int{1, 3, len(in)} {
		s, _ := newStore(t, nil)
		w := s.Sandbox("f")
		for p := []byte(in); len(p) > 0; {
			n := min(size, len(p))
			if got, err := w.Write(p[:n]); got != n || err != nil {
				t.Fatal(got, err)
			}
			p = p[n:]
		}
		var got strings.Builder
		for line := range strings.Lines(read(t, s.Path("f"))) {
			rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "2026-01-02T03:04:05.006Z ")
			if !ok {
				t.Fatalf("line %q", line)
			}
			id, text, _ := strings.Cut(rest, " ")
			fmt.Fprintf(&got, "%s|%s\n", text, id)
		}
		if d := cmp.Diff(want, got.String()); d != "" {
			t.Errorf("pieces of %d: %s", size, d)
		}
	}
}

func TestSizeIsBounded(t *testing.T) {
	s, c := newStore(t, func(cfg *Config) { cfg.Max = 10_000 })
	w := s.Sandbox("f")
	for i := range 1000 {
		fmt.Fprintf(w, "line %d of a lambda that prints without end\n", i)
		c.add(time.Second)
	}
	var total int64
	for _, p := range []string{s.Path("f"), s.Path("f") + ".1"} {
		fi, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		total += fi.Size()
	}
	if total > 10_000 || total < 5_000 {
		t.Errorf("%d bytes on disk", total)
	}
	if !strings.Contains(read(t, s.Path("f")), "line 999 of") {
		t.Error("the last line is missing")
	}
}

func TestRateIsBounded(t *testing.T) {
	s, c := newStore(t, func(cfg *Config) { cfg.Rate, cfg.Burst = 1000, 2000 })
	w := s.Sandbox("f")
	for range 10_000 {
		fmt.Fprintln(w, "spam")
	}
	if n := strings.Count(read(t, s.Path("f")), "spam"); n == 0 || n > 40 {
		t.Errorf("%d lines kept", n)
	}
	c.add(time.Second)
	fmt.Fprintln(w, "after")
	if got := read(t, s.Path("f")); !strings.Contains(got, "lines dropped") || !strings.Contains(got, "after\n") {
		t.Errorf("no word about dropped lines: %q", got[max(0, len(got)-200):])
	}
}

func TestLongLinesAreCut(t *testing.T) {
	s, _ := newStore(t, nil)
	w := s.Sandbox("f")
	if _, err := w.Write(append(bytes.Repeat([]byte("x"), longest*2+5), '\n')); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(read(t, s.Path("f")), "\n"); n != 3 {
		t.Errorf("%d lines", n)
	}
}

func TestSandboxesShareAFile(t *testing.T) {
	s, _ := newStore(t, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			w := s.Sandbox("f")
			fmt.Fprintf(w, "\x1eB r%d\n", i)
			for range 100 {
				fmt.Fprintf(w, "from r%d\n", i)
			}
		})
	}
	wg.Wait()
	for line := range strings.Lines(read(t, s.Path("f"))) {
		f := strings.Fields(line)
		if len(f) != 4 || f[1] != f[3] {
			t.Fatalf("line %q", line)
		}
	}
}

func TestNoDiskNoFailure(t *testing.T) {
	s, _ := newStore(t, nil)
	if err := os.RemoveAll(s.cfg.Dir); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Sandbox("f").Write([]byte("x\n")); n != 2 || err != nil {
		t.Error(n, err)
	}
}
