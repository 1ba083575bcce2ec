package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// removeEmptyGroups removes every control group of an instance that the kernel
// lets go, deepest first, and returns how many those were.
func removeEmptyGroups(t *testing.T, instance string) int {
	t.Helper()
	roots, err := filepath.Glob("/sys/fs/cgroup/*/openlambda-" + instance)
	if err != nil {
		t.Fatal(err)
	}
	if own := "/sys/fs/cgroup/openlambda-" + instance; exists(own) {
		roots = append(roots, own)
	}
	var all []string
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				all = append(all, path)
			}
			return nil // what goes meanwhile is gone
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Reverse(all)
	removed := 0
	for _, dir := range all {
		if os.Remove(dir) == nil {
			removed++
		}
	}
	return removed
}

// Control groups that somebody removed, under a worker that runs or after it,
// break neither its sandboxes for long, nor its end, clean-up or next start.
func TestFaultMissingControlGroups(t *testing.T) {
	dir := t.TempDir()
	w := startLive(t, dir, "")
	w.put("echo", "f.py", "def f(event):\n    return event\n")
	w.expect("echo", 200, "{}")
	if removeEmptyGroups(t, instanceOf(dir)) == 0 {
		t.Log("no group was empty")
	}
	await(t, "an answer after the groups went", func() bool {
		status, _ := w.call("echo")
		return status == 200
	})
	w.end()
	removeEmptyGroups(t, instanceOf(dir))
	for range 2 {
		for _, verb := range []string{"down", "force-cleanup"} {
			var talk strings.Builder
			s := streams{in: strings.NewReader(""), out: io.Discard, err: &talk, dir: dir}
			if code := run(context.Background(), s, []string{"ol", "worker", verb, "-p", dir}); code != 0 {
				t.Errorf("%s: exit code %d: %s", verb, code, talk.String())
			}
		}
	}
	if err := os.Remove(filepath.Join(dir, initMarker)); err != nil { // made anew, with the same name for its groups
		t.Fatal(err)
	}
	again := startLive(t, dir, "")
	again.expect("echo", 200, "{}")
}

// A number that a killed worker left belongs to somebody else by now: nobody is
// signalled, whatever files say.
func TestFaultRecycledProcessID(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{lockFile, "worker.pid", "worker/worker.pid"} {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err = errors.Join(err, os.WriteFile(path, []byte("1\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if pid, err := lockHolder(dir); pid != 0 || err != nil {
		t.Errorf("a file named the holder: %d, %v", pid, err)
	}
	var talk strings.Builder
	s := streams{in: strings.NewReader(""), out: &talk, err: &talk, dir: dir}
	if code := run(context.Background(), s, []string{"ol", "worker", "down", "-p", dir}); code != 0 || strings.Contains(talk.String(), "stopped worker") {
		t.Errorf("down: exit code %d: %s", code, talk.String())
	}
}
