package worker

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
)

// smallDisk is a file system of its own with so many KB.
func smallDisk(t *testing.T, kb int) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: making a file system needs root")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("size=%dk", kb)); err != nil {
		t.Skipf("NOT RUN: making a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func usedKB(t *testing.T, dir string) int {
	t.Helper()
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		t.Fatal(err)
	}
	return int((s.Blocks-s.Bfree)*uint64(s.Bsize)) >> 10
}

// A disk that is really full: uploads are refused and leave nothing, what is
// installed goes on running even though its log cannot be written, and once
// there is room again all is as before.
func TestFaultFullDisk(t *testing.T) {
	dir := smallDisk(t, 1024)
	s := config.New(dir, 4000)
	s.RegistryCacheMS = 0
	n := startNodeOn(t, dir, Config{Settings: s}, speakCode)
	noise := make([]byte, 100<<10) // no archive makes it smaller
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	post := func(name string, size int) reply {
		return n.do(http.MethodPost, api.PathRegistry+name, pack(t, "f.py", name, "noise", string(noise[:size])))
	}
	n.expect(post("small", 0), http.StatusCreated, "")
	n.expect(n.get(api.PathRun+"small"), http.StatusOK, "small")
	before := usedKB(t, dir)

	stored, refused := fill(n, post)
	for i := range 40 { // the log needs what is left
		n.expect(n.do(http.MethodPost, api.PathRun+"small", strings.NewReader(strings.Repeat("x", 4<<10))), http.StatusOK, "small")
		if i == 0 {
			n.expect(n.get(api.PathRegistry), http.StatusOK, "small")
		}
	}
	if files, err := os.ReadDir(filepath.Join(dir, "registry")); err != nil || len(files) != stored+1 {
		t.Errorf("the registry has %d files, %d lambdas were stored: %v", len(files), stored+1, err)
	}
	for i := range stored {
		n.expect(n.do(http.MethodDelete, fmt.Sprintf("%sbig%d", api.PathRegistry, i), nil), http.StatusOK, "")
	}
	n.expect(post(refused, 50<<10), http.StatusCreated, "")
	n.expect(n.get(api.PathRun+refused), http.StatusOK, refused)
	n.expect(n.do(http.MethodDelete, api.PathRegistry+refused, nil), http.StatusOK, "")
	n.expect(n.get(api.PathRun+refused), http.StatusNotFound, "unknown-lambda")
	logKB := 200 // of small, and what the kernel rounds up
	if after := usedKB(t, dir); after > before+logKB {
		t.Errorf("%d KB are in use, before %d", after, before)
	}
}

// fill uploads lambdas until one is refused. It returns how many were stored,
// and the name of the one that was not.
func fill(n *node, post func(string, int) reply) (stored int, refused string) {
	n.t.Helper()
	for stored = range 20 {
		name := fmt.Sprintf("big%d", stored)
		r := post(name, 100<<10)
		if r.status == http.StatusCreated {
			continue
		}
		n.shortOf(r, "worker-failed", "no space left on device")
		n.expect(n.get(api.PathRun+name), http.StatusNotFound, "unknown-lambda")
		return stored, name
	}
	n.t.Fatal("the disk is never full")
	return 0, ""
}
