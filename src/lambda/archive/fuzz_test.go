package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever a stranger sends: it is unpacked within its limits, in its own
// directory, as files and directories that everybody can read and nobody but the
// owner can write, or nothing is left of it. It is refused for a reason of its own.
func FuzzExtract(f *testing.F) {
	for _, entries := range [][]entry{
		{reg("a/f.py", "x"), special("l", tar.TypeSymlink, "/etc")},
		{reg("../f.py", "x")},
		{reg("/f.py", "x")},
		{reg("a/../../f.py", "x")},
		{reg("f.py", "x"), reg("f.py/g", "y")},
		{special("./", tar.TypeDir, ""), reg("./f.py", "code"), special("bin/", tar.TypeDir, ""), reg("a/b/c", "")},
		{special("h", tar.TypeLink, "f.py")},
		{special("d", tar.TypeChar, "")},
		{special("p", tar.TypeFifo, "")},
		{special("s", tar.TypeGNUSparse, "")},
		{reg("a/b/c/d/e", "x")},
		{reg("big", strings.Repeat("x", 601))},
		{reg("a", strings.Repeat("x", 600)), reg("b", strings.Repeat("y", 401))},
		{reg(strings.Repeat("long/", 40)+"x", "x")},
		{reg("f\\g", "x")},
		{},
		{reg("1", ""), reg("2", ""), reg("3", ""), reg("4", ""), reg("5", ""), reg("6", ""), reg("7", ""), reg("8", ""), reg("9", "")},
	} {
		f.Add(unzip(f, build(f, entries...)))
	}
	lim, parent := small(), f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		if !bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
			b = store(t, b) // the tar itself is fuzzed: few mutations survive a gzip checksum
		}
		err := Extract(bytes.NewReader(b), filepath.Join(parent, "x"), lim)
		var refused *RefusedError
		switch {
		case errors.As(err, &refused):
			assertEmpty(t, parent)
		case err != nil:
			t.Errorf("the machine is blamed: %v", err)
		default:
			assertBounded(t, parent, lim)
		}
		if err := os.RemoveAll(filepath.Join(parent, "x")); err != nil {
			t.Fatal(err)
		}
	})
}

// store makes a gzip file without the cost of compressing.
func store(tb testing.TB, b []byte) []byte {
	tb.Helper()
	var buf bytes.Buffer
	gz, err := gzip.NewWriterLevel(&buf, gzip.NoCompression)
	if err == nil {
		_, err = gz.Write(b)
		err = errors.Join(err, gz.Close())
	}
	if err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

func unzip(tb testing.TB, b []byte) []byte {
	tb.Helper()
	gz, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		tb.Fatal(err)
	}
	out, err := io.ReadAll(gz)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// assertBounded checks what was unpacked into x, which is alone in its parent.
func assertBounded(t *testing.T, parent string, lim Limits) {
	t.Helper()
	root := filepath.Join(parent, "x")
	var total int64
	entries := -1 // x itself
	err := filepath.WalkDir(parent, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == parent {
			return err
		}
		if path != root && !strings.HasPrefix(path, root+"/") {
			t.Errorf("%s lies elsewhere", path)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		entries++
		mode := info.Mode()
		switch {
		case mode == os.ModeDir|0o755:
		case mode == 0o644, mode == 0o755:
			total += info.Size()
			if info.Size() > lim.File {
				t.Errorf("%s has %d bytes", path, info.Size())
			}
		default:
			t.Errorf("%s is %v", path, mode)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if total > lim.Total || entries > lim.Entries {
		t.Errorf("%d bytes in %d entries", total, entries)
	}
}
