package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type entry struct {
	h    tar.Header
	body string
}

func reg(name, body string) entry {
	return entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(body))}, body}
}

func special(name string, typ byte, link string) entry {
	return entry{tar.Header{Typeflag: typ, Name: name, Linkname: link, Mode: 0o777}, ""}
}

func build(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var buf bytes.Buffer
	gz := gzip.NewWriter(&buf)
	tw := tar.NewWriter(gz)
	for _, e := range entries {
		if err := tw.WriteHeader(&e.h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(tw, e.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tw.Close(), gz.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func small() Limits {
	return Limits{Packed: 1 << 20, Total: 1000, File: 600, Entries: 8, Ratio: 200, Depth: 4, Path: 300}
}

func TestExtract(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	exe := reg("bin/run", "#!")
	exe.h.Mode = 0o4711
	b := build(t, special("./", tar.TypeDir, ""), reg("./f.py", "code"), special("bin/", tar.TypeDir, ""), exe, reg("a/b/c", ""))
	if err := Extract(bytes.NewReader(b), dir, small()); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{".": 0o755, "f.py": 0o644, "bin/run": 0o755, "a/b": 0o755, "a/b/c": 0o644} {
		fi, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if fi.Mode().Perm() != mode || fi.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			t.Errorf("%s: mode %v", name, fi.Mode())
		}
	}
}

func TestExtractRefuses(t *testing.T) {
	zeros := strings.Repeat("\x00", 600)
	var many []entry
	for i := range 9 {
		many = append(many, reg(string(rune('a'+i)), ""))
	}
	ok := build(t, reg("f.py", "x"))
	for name, tt := range map[string]struct {
		archive []byte
		want    string
	}{
		"traversal":       {build(t, reg("../evil", "x")), "leaves the archive"},
		"inner traversal": {build(t, reg("a/../../evil", "x")), "leaves the archive"},
		"harmless dots":   {build(t, reg("a/../b", "x")), "leaves the archive"},
		"absolute":        {build(t, reg("/etc/evil", "x")), "absolute"},
		"backslash":       {build(t, reg(`..\evil`, "x")), "impossible name"},
		"symlink":         {build(t, special("l", tar.TypeSymlink, "/etc")), "neither a file"},
		"hard link":       {build(t, reg("a", "x"), special("l", tar.TypeLink, "a")), "neither a file"},
		"char device":     {build(t, special("d", tar.TypeChar, "")), "neither a file"},
		"block device":    {build(t, special("d", tar.TypeBlock, "")), "neither a file"},
		"fifo":            {build(t, special("p", tar.TypeFifo, "")), "neither a file"},
		"duplicate":       {build(t, reg("a", "x"), reg("./a", "y")), "appears twice"},
		"file over dir":   {build(t, reg("a/b", "x"), reg("a", "y")), "appears twice"},
		"dir over file":   {build(t, reg("a", "x"), reg("a/b", "y")), "both a file and a directory"},
		"file size":       {build(t, reg("a", zeros+"x")), "more than 600"},
		"total size":      {build(t, reg("a", zeros), reg("b", zeros)), "sum of sizes"},
		"entries":         {build(t, many...), "one too many"},
		"implied dirs":    {build(t, reg("a/b/c/1", ""), reg("d/e/f/1", ""), reg("g", "")), "one too many"},
		"depth":           {build(t, reg("a/b/c/d/e", "")), "deep"},
		"long path":       {build(t, reg(strings.Repeat("a/", 200)+"b", "")), "path of"},
		"long name":       {build(t, reg(strings.Repeat("a", 256), "")), "longer than 255"},
		"not gzip":        {[]byte("hello"), "not a readable"},
		"empty":           {nil, "not a readable"},
		"gzip of text":    {zip(t, []byte(strings.Repeat("hello", 300))), "not a readable"},
		"cut":             {ok[:len(ok)-9], "not a readable"},
		"trailing junk":   {append(bytes.Clone(ok), "junk"...), "not a readable"},
		"bomb behind tar": {zip(t, make([]byte, 32<<20)), "times its size"},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			err := Extract(bytes.NewReader(tt.archive), filepath.Join(parent, "x"), small())
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			assertEmpty(t, parent)
		})
	}
}

func TestExtractTooLargeUpload(t *testing.T) {
	lim := small()
	lim.Packed = 20
	parent := t.TempDir()
	err := Extract(bytes.NewReader(build(t, reg("f.py", "x"))), filepath.Join(parent, "x"), lim)
	if err == nil || !strings.Contains(err.Error(), "limit on uploads") {
		t.Errorf("got %v", err)
	}
	assertEmpty(t, parent)
}

func TestPackRoundTrip(t *testing.T) {
	src := t.TempDir()
	mustWrite(t, filepath.Join(src, "f.py"), "code", 0o644)
	mustWrite(t, filepath.Join(src, "sub/run.sh"), "#!", 0o755)
	mustWrite(t, filepath.Join(src, ".git/HEAD"), "x", 0o644)
	var one, two bytes.Buffer
	if err := errors.Join(Pack(&one, src, "f.py"), Pack(&two, src, "f.py")); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("packing is not deterministic")
	}
	dst := filepath.Join(t.TempDir(), "x")
	if err := Extract(&one, dst, DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dst, "f.py")); err != nil || string(b) != "code" {
		t.Errorf("got %q, %v", b, err)
	}
	if fi, err := os.Stat(filepath.Join(dst, "sub/run.sh")); err != nil || fi.Mode().Perm() != 0o755 {
		t.Errorf("got %v, %v", fi, err)
	}
	if _, err := os.Stat(filepath.Join(dst, ".git")); err == nil {
		t.Error(".git was packed")
	}
}

func TestPackRefuses(t *testing.T) {
	src := t.TempDir()
	if err := Pack(io.Discard, src, "f.py"); err == nil || !strings.Contains(err.Error(), "entry file f.py") {
		t.Errorf("missing entry: got %v", err)
	}
	mustWrite(t, filepath.Join(src, "f.py"), "", 0o644)
	if err := os.Symlink("/etc/passwd", filepath.Join(src, "link")); err != nil {
		t.Fatal(err)
	}
	if err := Pack(io.Discard, src, "f.py"); err == nil || !strings.Contains(err.Error(), "link is not a regular file") {
		t.Errorf("link: got %v", err)
	}
}

func zip(t testing.TB, b []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	gz := gzip.NewWriter(&buf)
	_, err := gz.Write(b)
	if err = errors.Join(err, gz.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func assertEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func mustWrite(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err = errors.Join(err, os.WriteFile(path, []byte(text), mode)); err != nil {
		t.Fatal(err)
	}
}
