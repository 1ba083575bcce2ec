package sock

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	minimage "github.com/open-lambda/open-lambda/min-image"
)

// Kind is a kind of provider.
type Kind struct {
	Name  string
	New   func(Config) (Maker, error)
	Clean func(ctx context.Context, instance, dir string) error
}

// Leaks are tests that any kind of provider must pass.
func Leaks() map[string]func(*testing.T, Kind) {
	return map[string]func(*testing.T, Kind){
		"nothing leaks":                   nothingLeaks,
		"killed owner leaves nothing":     killedOwnerLeavesNothing,
		"start after a killed owner":      startAfterKilledOwner,
		"clean without anything to clean": cleanNothing,
	}
}

func sockKind() Kind {
	return Kind{"sock", func(cfg Config) (Maker, error) { return New(cfg) }, Clean}
}

func TestLeaks(t *testing.T) {
	for name, run := range Leaks() {
		t.Run(name, func(t *testing.T) { run(t, sockKind()) })
	}
}

// Environment variables that make the test binary an owner of sandboxes of a
// kind that waits to be killed.
const (
	OwnerKind    = "SOCK_TEST_OWNER_KIND"
	OwnerDir     = "SOCK_TEST_OWNER_DIR"
	ownerNetwork = "SOCK_TEST_OWNER_NETWORK" // if it is not the default
)

// ownerOf is the instance of the owner of a directory: two runs of the tests
// must not take each other's away.
func ownerOf(dir string) string {
	sum := sha256.Sum256([]byte(filepath.Clean(dir)))
	return "test-owner-" + hex.EncodeToString(sum[:6])
}

// Own makes one running and one frozen sandbox, says so, and waits.
func Own(kind Kind, dir string) error {
	cfg := DefaultConfig(ownerOf(dir), filepath.Join(dir, "state"), minimage.Runtime())
	cfg.Pool = 3
	if network := os.Getenv(ownerNetwork); network != "" {
		cfg.Network = network
	}
	p, err := kind.New(cfg)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := warmUp(ctx, p); err != nil {
		return err
	}
	for i, frozen := range []bool{false, true} {
		s, err := p.Create(ctx, Spec{ID: fmt.Sprintf("s-%d", i), Dir: filepath.Join(dir, "code"), Entry: "f.py", Slots: 1, MemMB: 50, Procs: 10})
		if err != nil {
			return err
		}
		if _, _, err := try(s, "{}"); err != nil {
			return err
		}
		if err := s.SetFrozen(frozen); err != nil {
			return err
		}
	}
	if err := warmUp(ctx, p); err != nil {
		return err
	}
	fmt.Println("ready")
	_, err = bufio.NewReader(os.Stdin).ReadByte() // until killed
	return err
}

// census counts what an instance has on the host, and nothing of anybody else's:
// mounts are those of its directory or its control groups, from or to.
type census struct{ Cgroups, Processes, Mounts, Files int }

func count(t *testing.T, instance, dir string) census {
	t.Helper()
	var c census
	skip := func(_ string, _ fs.DirEntry, err error) error {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Log(err)
		}
		return nil
	}
	for _, pattern := range []string{"/sys/fs/cgroup/openlambda-" + instance, "/sys/fs/cgroup/*/openlambda-" + instance} {
		roots, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, root := range roots {
			_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
				if err == nil && e.IsDir() {
					c.Cgroups++
				}
				return skip(path, e, err)
			})
		}
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && path != dir && e.Name() != "lock" {
			c.Files++
		}
		return skip(path, e, err)
	})
	c.Processes = len(processes(t, instance))
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, dir) || strings.Contains(line, "openlambda-"+instance) {
			c.Mounts++
		}
	}
	return c
}

// processes lists who is in a cgroup of the instance.
func processes(t *testing.T, instance string) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range all {
		if raw, err := os.ReadFile(file); err == nil && strings.Contains(string(raw), "openlambda-"+instance+"/") {
			found = append(found, filepath.Dir(file))
		}
	}
	return found
}

func openFiles(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
}

func killedOwnerLeavesNothing(t *testing.T, kind Kind) {
	needRoot(t)
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	writeCode(t, filepath.Join(dir, "code"))
	before := count(t, ownerOf(dir), state)
	cmd := startOwner(t, kind, dir)
	during := count(t, ownerOf(dir), state)
	if during.Processes < 2 || during.Mounts != before.Mounts {
		t.Errorf("while it runs there are %+v, before %+v", during, before)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := kind.Clean(ctx, ownerOf(dir), state); !errors.Is(err, ErrInUse) {
		t.Errorf("cleaning under a live owner gives %v", err)
	}
	pid := cmd.Process.Pid
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := kind.Clean(ctx, ownerOf(dir), state); err != nil {
		t.Errorf("clean: %v", err)
	}
	// The killed processes are orphans: the host's init has yet to reap them.
	after := count(t, ownerOf(dir), state)
	for tick := time.NewTicker(10 * time.Millisecond); after != before && ctx.Err() == nil; <-tick.C {
		after = count(t, ownerOf(dir), state)
	}
	if after != before {
		t.Errorf("after killing %d there are %+v, before %+v", pid, after, before)
	}
}

func startAfterKilledOwner(t *testing.T, kind Kind) {
	needRoot(t)
	dir := t.TempDir()
	writeCode(t, filepath.Join(dir, "code"))
	for range 2 {
		cmd := startOwner(t, kind, dir)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
	}
	cfg := DefaultConfig(ownerOf(dir), filepath.Join(dir, "state"), minimage.Runtime())
	p, err := kind.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	CloseAfter(t, p)
	warm(t, p)
	call(t, create(t, p, code(t, "s-0", echo)), "{}")
}

func cleanNothing(t *testing.T, kind Kind) {
	needRoot(t)
	dir := filepath.Join(t.TempDir(), "state")
	before := count(t, ownerOf(dir), dir)
	if err := kind.Clean(t.Context(), ownerOf(dir), dir); err != nil {
		t.Error(err)
	}
	if after := count(t, ownerOf(dir), dir); after != before {
		t.Errorf("cleaning nothing leaves %+v, before %+v", after, before)
	}
}

func writeCode(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "f.py"), []byte(echo), 0o644); err != nil {
		t.Fatal(err)
	}
}

// startOwner runs this test binary as an owner and waits until it is ready.
func startOwner(t *testing.T, kind Kind, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), OwnerKind+"="+kind.Name, OwnerDir+"="+dir)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close() })
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("owner said %q, %v", line, err)
	}
	return cmd
}

func nothingLeaks(t *testing.T, kind Kind) {
	cfg := settings(t)
	cfg.Dir = filepath.Join(t.TempDir(), "state")
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	before, files := count(t, cfg.Instance, cfg.Dir), openFiles(t)
	churn(t, kind, cfg)
	if after := count(t, cfg.Instance, cfg.Dir); after != before {
		t.Errorf("after closing there are %+v, before %+v", after, before)
	}
	// The runtime's poller opens descriptors of its own once.
	if now := openFiles(t); now > files+3 {
		t.Errorf("%d files are open, before %d", now, files)
	}
}

// churn makes sandboxes that end in every way, and closes with some alive.
func churn(t *testing.T, kind Kind, cfg Config) {
	t.Helper()
	p, err := kind.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	warm(t, p)
	steady := 0
	for i := range 20 {
		s := create(t, p, code(t, "churn-"+strconv.Itoa(i), bombs))
		if i%3 == 0 {
			_, _, _ = try(s, `{"what":"exit"}`)
		}
		if i%4 == 0 {
			other := code(t, "other-"+strconv.Itoa(i), echo)
			other.Calls = http.NotFoundHandler()
			call(t, create(t, p, other), "{}")
		}
		destroy(t, s)
		if i == 10 {
			warm(t, p)
			steady, _ = atRest(t, cfg)
		}
	}
	warm(t, p)
	// Each of the two sandboxes since then that still live holds a few.
	if now, _ := atRest(t, cfg); now > steady+40 {
		t.Errorf("%d files are open after 20 sandboxes, %d after 10", now, steady)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := p.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
	if _, err := p.Create(ctx, code(t, "late", echo)); !errors.Is(err, ErrClosed) {
		t.Errorf("create after close gives %v", err)
	}
	if err := p.Close(ctx); err != nil {
		t.Errorf("second close: %v", err)
	}
}
