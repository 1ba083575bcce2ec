package logs

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// logLine is a line of a log: time, request, text.
var logLine = regexp.MustCompile(`^2026-01-02T03:04:05\.000Z [!-~]{1,128} [^\n]*\n$`)

// Whatever a sandbox prints, in whatever pieces it comes: the log has the same
// lines, each with a time and an id that a sandbox cannot forge a line with.
func FuzzOutput(f *testing.F) {
	for _, seed := range []string{
		"hello\n", "no end", "\x1eB id\nx\n\x1eE id\ny\n", "text\x1eB id\nx\n", "\x1eB \n\x1eB a b\n\x1eB \xff\n", "a\r\nb\r\n", "\r\n\n\n", "\x1e\x1eB id\nx\n", "\x1eB id\r\nx\n",
	} {
		f.Add([]byte(seed), uint(3))
		f.Add(bytes.Repeat([]byte(seed), 3), uint(1))
	}
	f.Add(bytes.Repeat([]byte("long"), longest/3), uint(1000))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte, piece uint) {
		whole := logged(t, filepath.Join(dir, "whole"), text, len(text))
		pieces := logged(t, filepath.Join(dir, "pieces"), text, int(max(piece%uint(longest), uint(len(text)/100), 1)))
		if !bytes.Equal(whole, pieces) {
			t.Errorf("%q in pieces of %d is logged as %q, at once as %q", text, piece, pieces, whole)
		}
		for line := range bytes.Lines(whole) {
			if !logLine.Match(line) || len(line) > longest+160 {
				t.Errorf("%q is logged as %q", text, line)
			}
		}
	})
}

// logged is the log of a sandbox that prints text in pieces of so many bytes.
func logged(t *testing.T, dir string, text []byte, piece int) []byte {
	t.Helper()
	s, err := Open(Config{Dir: dir, Max: 64 << 20, Burst: 64 << 20, Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	w := s.Sandbox("f")
	for len(text) > 0 {
		n := min(piece, len(text))
		if _, err := w.Write(text[:n]); err != nil {
			t.Fatal(err)
		}
		text = text[n:]
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := os.ReadFile(s.Path("f"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	return out
}
