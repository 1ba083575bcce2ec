package debian

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeApt stands for apt-cache and apt-get.
type fakeApt struct {
	depends string
	uris    string
	files   map[string]string // what download leaves in the directory
	calls   *int              // downloads
}

func (f fakeApt) run(_ context.Context, dir, name string, args ...string) ([]byte, error) {
	if name == "apt-cache" {
		return []byte(f.depends), nil
	}
	if slices.Contains(args, "--print-uris") {
		return f.printURIs(dir), nil
	}
	*f.calls++
	for file, text := range f.files {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// printURIs leaves out, like apt, what is in the directory already.
func (f fakeApt) printURIs(dir string) []byte {
	var out []byte
	for line := range strings.Lines(f.uris) {
		if fields := strings.Fields(line); len(fields) > 1 {
			if _, err := os.Stat(filepath.Join(dir, fields[1])); err == nil {
				continue
			}
		}
		out = append(out, line...)
	}
	return out
}

func hash256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestDownload(t *testing.T) {
	long := sha512.Sum512([]byte("text of b"))
	calls := 0
	apt := fakeApt{
		uris: fmt.Sprintf("'http://x/b' b_2%%3a1.0-1_amd64.deb 9 SHA512:%x\nnoise\n'http://x/a' a_1.0_all.deb 9 SHA256:%s\n",
			long, hash256("text of a")),
		files: map[string]string{"a_1.0_all.deb": "text of a", "b_2%3a1.0-1_amd64.deb": "text of b"},
		calls: &calls,
	}
	b := NewBuilder(filepath.Join(t.TempDir(), "new", "cache"), nil)
	b.run = apt.run
	for range 2 { // the second time from the cache
		packages, err := b.download(t.Context(), []string{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		lock := filepath.Join(t.TempDir(), "x", "lock")
		if err := writeLock(lock, packages); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(lock)
		want := "a 1.0 all sha256:" + hash256("text of a") + "\nb 2:1.0-1 amd64 sha256:" + hash256("text of b") + "\n"
		if err != nil || string(text) != want {
			t.Errorf("package list %q, want %q", text, want)
		}
	}
	if calls != 1 {
		t.Errorf("%d downloads, want 1", calls)
	}
	damaged := filepath.Join(b.cache, "a_1.0_all.deb")
	if err := os.WriteFile(damaged, []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := b.download(t.Context(), []string{"a", "b"}); err != nil || calls != 2 {
		t.Errorf("damaged file in the cache: %v, %d downloads", err, calls)
	}
}

func TestDownloadRefusesAnotherHash(t *testing.T) {
	for name, hash := range map[string]string{"other": "SHA256:" + hash256("b"), "weak": "MD5Sum:00", "none": "-"} {
		calls := 0
		b := NewBuilder(t.TempDir(), nil)
		b.run = fakeApt{
			uris:  "'http://x/a' a_1.0_all.deb 1 " + hash + "\n",
			files: map[string]string{"a_1.0_all.deb": "a"},
			calls: &calls,
		}.run
		if _, err := b.download(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), "verify a") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseFile(t *testing.T) {
	for _, bad := range []string{"", "a", "a_1.deb", "a_1_all.rpm", "../a_1_all.deb", "a_%zz_all.deb"} {
		if _, err := parseFile(bad); err == nil {
			t.Errorf("%q is taken for a package", bad)
		}
	}
}
