package packages

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// packageWith makes a directory as pip leaves one, with what a package says of
// itself.
func packageWith(t testing.TB, dir, info string) string {
	t.Helper()
	files := filepath.Join(dir, "a-1.dist-info")
	if err := os.MkdirAll(files, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(files, "METADATA")
	if err := os.WriteFile(path, []byte(info), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The version that a package gives itself becomes the name of a directory, which
// is removed first: it must not lead to another.
func TestVersionsThatArePaths(t *testing.T) {
	for _, info := range []string{
		"Name: a\nVersion: x/../../../../etc\n", "Name: ../a\nVersion: 1\n", "Name: a\nVersion: ..\n", "Name: a\nVersion: 1/2\n", "Name: a\nVersion: \x00\n",
		"Name: a\nVersion: 1\x00\n", "Name: a\nVersion: 1 2\n", "Name: .stage-a\nVersion: 1\n", "Name: a\nVersion: " + strings.Repeat("1", 300) + "\n",
	} {
		dir := t.TempDir()
		packageWith(t, dir, info)
		if m, err := inspect(dir); err == nil {
			t.Errorf("%q is taken for %q", info, key(m.Name, m.Version))
		}
	}
}

// What stands at the place of METADATA may be no file: nobody waits for a pipe,
// and nothing of the host is read through a link.
func TestInfoThatIsNoFile(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"link":      func(path string) error { return os.Symlink("../b", path) },
		"directory": func(path string) error { return os.Mkdir(path, 0o755) },
	} {
		dir := t.TempDir()
		path := packageWith(t, dir, "")
		if err := os.WriteFile(filepath.Join(dir, "b"), []byte("Name: a\nVersion: 1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := replace(path); err != nil {
			t.Fatal(err)
		}
		if m, err := inspect(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: got %+v, %v", name, m, err)
		}
	}
}

// Whatever a package says of itself, it gets a directory of its own in the
// store, and claims about other packages that fit one line.
func FuzzMetadata(f *testing.F) {
	for _, seed := range []string{
		"Metadata-Version: 2.1\nName: X_y\nVersion: 1.0RC1\nRequires-Dist: a (>=1)\nRequires-Dist: b; extra == 'c'\n\nbody\nName: z\n", "Name: a\nVersion: x/../../../etc\n",
		"Name: a\r\nVersion: 1!2.0+local.1\r\n", "Version: 1\n", "Name: a\nVersion: ..\n", "", "Name: a\nVersion: 1\nRequires-Dist: " + strings.Repeat("x", 200) + "\n", "Name: a\nName: b\nVersion: 1\nVersion: 2\nRequires-Dist: ~=\n",
	} {
		f.Add([]byte(seed))
	}
	store, dir := "/store", f.TempDir()
	f.Fuzz(func(t *testing.T, info []byte) {
		packageWith(t, dir, string(info))
		m, err := inspect(dir)
		if err != nil {
			return
		}
		k := key(m.Name, m.Version)
		if place := filepath.Join(store, k); filepath.Dir(place) != store || filepath.Base(place) != k || isTemporary(k) || len(k) > 255 || strings.ContainsAny(k, "/\x00\n") {
			t.Errorf("%q is kept as %q", info, k)
		}
		for _, c := range claimsAbout([]*pkg{{meta: m}}) {
			if c.Has != m.Version || strings.Contains(c.Wants, "\n") {
				t.Errorf("claims %+v", c)
			}
		}
	})
}
