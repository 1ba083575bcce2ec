package debian

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func tree(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func read(t *testing.T, root, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

func TestMergeUsr(t *testing.T) {
	root := tree(t, "bin/dash", "lib/x/libc.so", "usr/lib/x/libz.so", "usr/bin/env", "lib64/ld.so")
	if err := mergeUsr(root); err != nil {
		t.Fatal(err)
	}
	for name, origin := range map[string]string{
		"usr/bin/dash": "bin/dash", "bin/env": "usr/bin/env", "usr/lib/x/libc.so": "lib/x/libc.so",
		"lib/x/libz.so": "usr/lib/x/libz.so", "lib64/ld.so": "lib64/ld.so",
	} {
		if got := read(t, root, name); got != origin+"\n" {
			t.Errorf("%s holds %q", name, got)
		}
	}
	if err := mergeUsr(root); err != nil {
		t.Errorf("merge again: %v", err)
	}
	if err := mergeUsr(tree(t, "lib/a", "usr/lib/a")); err == nil {
		t.Error("one file covers another")
	}
}

func TestTrimKeepsCopyright(t *testing.T) {
	root := tree(t, "usr/share/doc/a/copyright", "usr/share/doc/a/changelog", "usr/share/man/man1/a",
		"usr/lib/python3.11/test/a.py", "usr/lib/python3.11/json/a.py")
	if err := trim(root); err != nil {
		t.Fatal(err)
	}
	read(t, root, "usr/share/doc/a/copyright")
	read(t, root, "usr/lib/python3.11/json/a.py")
	for _, gone := range []string{"usr/share/doc/a/changelog", "usr/share/man", "usr/lib/python3.11/test"} {
		if _, err := os.Stat(filepath.Join(root, gone)); err == nil {
			t.Errorf("%s is still there", gone)
		}
	}
	if err := trim(t.TempDir()); err != nil {
		t.Errorf("trim nothing: %v", err)
	}
}

func TestSynthesise(t *testing.T) {
	root := tree(t, "usr/bin/python3.11", "usr/bin/python3.12", "usr/bin/dash", "usr/share/ca-certificates/m/b.crt",
		"usr/share/ca-certificates/m/a.crt")
	if err := synthesise(root); err != nil {
		t.Fatal(err)
	}
	if got := read(t, root, "usr/bin/python3"); got != "usr/bin/python3.12\n" {
		t.Errorf("python3 is %q", got)
	}
	if !strings.Contains(read(t, root, "etc/passwd"), "nobody:x:65534:") {
		t.Error("nobody is not in passwd")
	}
	for _, name := range MountPoints() {
		if info, err := os.Stat(filepath.Join(root, name)); err != nil || !info.IsDir() {
			t.Errorf("mount point %s: %v", name, err)
		}
	}
	info, err := os.Stat(filepath.Join(root, "tmp"))
	if err != nil || info.Mode().Perm() != 0o777 || info.Mode()&os.ModeSticky == 0 {
		t.Errorf("tmp: %v, %v", info.Mode(), err)
	}
	if err := bundleCertificates(root); err != nil {
		t.Fatal(err)
	}
	want := "usr/share/ca-certificates/m/a.crt\nusr/share/ca-certificates/m/b.crt\n"
	if got := read(t, root, "etc/ssl/certs/ca-certificates.crt"); got != want {
		t.Errorf("bundle %q", got)
	}
	if err := bundleCertificates(t.TempDir()); err == nil {
		t.Error("an image without certificates passes")
	}
	if err := synthesise(t.TempDir()); err == nil {
		t.Error("an image without python passes")
	}
}
