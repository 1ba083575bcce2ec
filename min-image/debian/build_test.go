package debian

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuildFromTheMachinesSources downloads some 15 MB, hence on demand only.
func TestBuildFromTheMachinesSources(t *testing.T) {
	if os.Getenv("OL_TEST_DEBIAN") == "" {
		t.Skip("SKIPPED: set OL_TEST_DEBIAN=1 to build the real base image (downloads packages)")
	}
	if err := needTools("apt-cache", "apt-get", "dpkg-deb"); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "base")
	cache := os.Getenv("OL_TEST_DEBIAN_CACHE")
	if cache == "" {
		cache = t.TempDir()
	}
	builder := NewBuilder(cache, func(step string, done, total int) { t.Logf("%s (%d of %d)", step, done, total) })
	if err := builder.Build(t.Context(), dir, DefaultLayer); err != nil {
		t.Fatal(err)
	}
	lock, err := os.ReadFile(filepath.Join(dir, LockPath))
	if err != nil || !strings.Contains(string(lock), "\npython3 ") {
		t.Errorf("package list %q, %v", lock, err)
	}
	t.Logf("packages:\n%s", lock)
	if err := builder.Build(t.Context(), dir, DefaultLayer); !errors.Is(err, ErrExists) {
		t.Errorf("second build: %v, want ErrExists", err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: not root, the image was built but not entered")
	}
	checkInside(t, dir)
}

func checkInside(t *testing.T, dir string) {
	t.Helper()
	script := "import json, http.server, asyncio, ssl, sqlite3, ctypes, sys; " +
		"assert json.__spec__.cached and __import__('os').path.exists(json.__spec__.cached); " +
		"assert len(ssl.create_default_context().get_ca_certs()) > 50; " +
		"__import__('subprocess').check_call('exit 0', shell=True); print(sys.version)"
	out, err := exec.Command("chroot", dir, "/usr/bin/python3", "-c", script).CombinedOutput()
	if err != nil {
		t.Errorf("python in the image: %v: %s", err, out)
	}
	t.Logf("python in the image: %s", out)
}

func TestBuildRefusesWhatExists(t *testing.T) {
	err := NewBuilder(t.TempDir(), nil).Build(context.Background(), t.TempDir(), DefaultLayer)
	if !errors.Is(err, ErrExists) {
		t.Errorf("build over a directory: %v", err)
	}
}
