package sock_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/sock/nat/nattest"
	"github.com/open-lambda/open-lambda/sock/runc"
)

// containers makes a provider of OCI containers for a test.
func containers(t *testing.T, change func(*sock.Config)) sock.Maker {
	t.Helper()
	needCgo(t)
	cfg := sock.Settings(t)
	if change != nil {
		change(&cfg)
	}
	p, err := newContainers(cfg)
	if err != nil {
		t.Fatal(err)
	}
	sock.CloseAfter(t, p)
	return p
}

func needCgo(t *testing.T) {
	t.Helper()
	if !haveCgo {
		t.Skip("NOT RUN: OCI containers need cgo, that is, a C compiler when this test was built")
	}
}

func TestContractOfContainers(t *testing.T) {
	p := containers(t, nil)
	for _, c := range sock.Contract() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, p) })
	}
}

func TestLeaksOfContainers(t *testing.T) {
	needCgo(t)
	for name, run := range sock.Leaks() {
		t.Run(name, func(t *testing.T) { run(t, kinds()["runc"]) })
	}
}

func TestFaultsOfContainers(t *testing.T) {
	needCgo(t)
	sock.FaultsOf(t, kinds()["runc"], func(cfg *sock.Config) { cfg.Zygote, cfg.Pool = false, 0 })
}

// What the helper itself fails in leaves nothing either: here the kernel does
// not take the name that the container's host is to have.
func TestContainerFailsHalfway(t *testing.T) {
	p := containers(t, nil)
	first := create(t, p, "before")
	if err := first.Destroy(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := len(openFilesOf(t, helperPID(t)))
	dir := t.TempDir()
	for range 5 {
		_, err := p.Create(t.Context(), sock.Spec{ID: strings.Repeat("x", 65), Dir: dir, Entry: "f.py", Slots: 1, MemMB: 64, Procs: 10, MaxBody: 1})
		var failed *sock.StartError
		if !errors.As(err, &failed) || failed.Lambda {
			t.Fatalf("create gives %v, want the host's fault", err)
		}
	}
	if now := len(openFilesOf(t, helperPID(t))); now > before {
		t.Errorf("the helper has %d open files, before %d", now, before)
	}
	next := create(t, p, "after")
	if err := next.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
}

func openFilesOf(t *testing.T, pid int) []os.DirEntry {
	t.Helper()
	all, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestNetworksOfContainers(t *testing.T) {
	needCgo(t)
	nattest.Run(t, func(t *testing.T) { sock.NetworkNATOf(t, kinds()["runc"]) })
}

// Without the helper its containers are gone, and the next start begins
// another one.
func TestHelperDies(t *testing.T) {
	p := containers(t, nil)
	s := create(t, p, "first")
	pid := helperPID(t)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Info().Exited:
	case <-time.After(time.Minute):
		t.Fatal("the sandbox lives on")
	}
	if text := s.Info().ExitText; text != "ol-runc has ended" {
		t.Errorf("exit text is %q", text)
	}
	if err := s.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	next := create(t, p, "next")
	if helperPID(t) == pid {
		t.Error("there is no other helper")
	}
	if err := next.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
}

// create makes a sandbox of a lambda that does nothing.
func create(t *testing.T, p sock.Maker, id string) *sock.Sandbox {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(dir+"/f.py", []byte("def f(event): pass\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	s, err := p.Create(t.Context(), sock.Spec{ID: id, Dir: dir, Entry: "f.py", Slots: 1, MemMB: 64, Procs: 10, MaxBody: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// childrenOf lists the children of a process.
func childrenOf(t *testing.T, parent string) (pids []string) {
	t.Helper()
	lists, err := filepath.Glob("/proc/" + parent + "/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a thread may have ended
		pids = append(pids, strings.Fields(string(text))...)
	}
	return pids
}

// helperPID finds our child that is the helper.
func helperPID(t *testing.T) int {
	t.Helper()
	for _, child := range childrenOf(t, "self") {
		line, _ := os.ReadFile("/proc/" + child + "/cmdline")
		if strings.HasSuffix(string(line), "\x00serve\x00") {
			pid, err := strconv.Atoi(child)
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatal("there is no helper")
	return 0
}

// What the helper mounts must not be seen by whoever started it.
func TestHelperWantsItsOwnMounts(t *testing.T) {
	needCgo(t)
	text, err := exec.CommandContext(t.Context(), "/proc/self/exe", "serve").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(text), "the mount namespace is the parent's") {
		t.Errorf("%v: %s", err, text)
	}
}

func TestNoHelper(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if path, err := runc.FindHelper(); !errors.Is(err, runc.ErrNoHelper) {
		t.Errorf("found %q, %v", path, err)
	}
	path := filepath.Join(os.Getenv("PATH"), runc.Program)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if found, err := runc.FindHelper(); err != nil || found != path {
		t.Errorf("found %q, %v", found, err)
	}
}
