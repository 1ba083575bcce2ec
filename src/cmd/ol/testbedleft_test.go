package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/open-lambda/open-lambda/src/testbed"
)

// What "testbed up" has made when it is killed (-9), at whatever moment, is
// taken down by the next command, also when the hosts' processes are killed
// as well.
func TestKilledTestbedLeavesNothing(t *testing.T) {
	requireTestbed(t)
	for _, tc := range []struct{ until, next string }{
		{"starting boss1", "down"}, {"starting node1", "down"}, {"starting node2", "up"}, {"try: ", "down"},
	} {
		t.Run(fmt.Sprintf("killed at %q, then %s", tc.until, tc.next), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "bed")
			t.Cleanup(func() { takeDown(t, dir) })
			killAt(t, dir, tc.until)
			state, groups := stateOf(t, dir)
			if tc.until == "try: " { // it was up: now kill the hosts' processes, too
				for _, h := range state.Hosts {
					if err := state.network().Kill(h.Name); err != nil {
						t.Error(err)
					}
				}
			}
			if tc.next == "up" {
				if code, _, talk := ol(t, "", "testbed", "up", "-p", dir, "--nodes", "1", "-o", "pool_size=1"); code != 0 {
					t.Fatalf("up again: exit code %d: %s", code, talk)
				}
				_, more := stateOf(t, dir)
				groups = append(groups, more...)
			}
			takeDown(t, dir)
			for _, left := range leftOf(t, dir, state.network(), groups) {
				t.Errorf("left behind: %s", left)
			}
		})
	}
}

func takeDown(t *testing.T, dir string) {
	t.Helper()
	if code, _, talk := ol(t, "", "testbed", "down", "-p", dir); code != 0 {
		t.Errorf("down: exit code %d: %s", code, talk)
	}
}

// killAt starts a testbed in a process of its own, and kills that once it has
// said something.
func killAt(t *testing.T, dir, until string) {
	t.Helper()
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{
		"ol", "testbed", "up", "-p", dir, "--nodes", "2", "--bosses", "1", "--delay", "1ms", "-o", "pool_size=1",
	}, Env: os.Environ()}
	talk, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(talk)
	said := ""
	for lines.Scan() && !strings.HasPrefix(lines.Text(), until) {
		said += lines.Text() + "\n"
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_, _ = io.Copy(io.Discard, talk)
	if err := cmd.Wait(); err == nil && until != "try: " {
		t.Fatalf("it ended by itself: %s", said)
	}
}

// stateOf is what a testbed has written down, and the names of the control
// groups that its workers made.
func stateOf(t *testing.T, dir string) (*testbedState, []string) {
	t.Helper()
	state := &testbedState{dir: dir}
	text, err := os.ReadFile(testbedFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, state); err != nil {
		t.Fatal(err)
	}
	var groups []string
	for _, h := range state.Hosts {
		if log, err := os.ReadFile(state.log(h.Name)); err == nil {
			groups = append(groups, regexp.MustCompile(`openlambda-[0-9a-f]+`).FindAllString(string(log), -1)...)
		}
	}
	return state, groups
}

// leftOf lists what is left of a testbed: files, namespaces, interfaces,
// processes, control groups.
func leftOf(t *testing.T, dir string, n testbed.Network, groups []string) []string {
	t.Helper()
	var left []string
	if exists(dir) {
		left = append(left, dir)
	}
	names, err := filepath.Glob("/run/netns/" + n.Prefix + "-*")
	if err != nil {
		t.Fatal(err)
	}
	left = append(left, names...)
	for _, name := range []string{n.Prefix + "br", n.Prefix + "-boss1", n.Prefix + "-node1", n.Prefix + "-node2"} {
		if _, err := netlink.LinkByName(name); err == nil {
			left = append(left, name)
		}
	}
	left = append(left, processesOf(t, dir)...)
	err = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && slices.Contains(groups, d.Name()) {
			left = append(left, path)
		}
		return nil // groups of others come and go
	})
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// processesOf finds those that were started with a directory among their
// arguments. One that was killed may take a moment to be gone.
func processesOf(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	deadline := time.Now().Add(10 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		found = nil
		all, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range all {
			if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), dir) {
				found = append(found, path+": "+strings.ReplaceAll(string(text), "\x00", " "))
			}
		}
		if len(found) == 0 || time.Now().After(deadline) {
			return found
		}
		<-tick.C
	}
}

// The delay is there, and the boss adds it to what a call takes.
func TestTestbedDelay(t *testing.T) {
	requireTestbed(t)
	const delay = 20 * time.Millisecond
	b := newBed(t, "--nodes", "1", "--delay", delay.String())
	if ok, talk := b.install("boss1", "echo"); !ok {
		t.Fatal(talk)
	}
	if code, _ := b.once("boss1", "60000"); code != 200 {
		t.Fatalf("got %d", code)
	}
	for range 3 {
		began := time.Now()
		if code, _ := b.once("boss1", "60000"); code != 200 {
			t.Fatalf("got %d", code)
		}
		// From here to the boss there is none; from the boss to the worker and
		// back there are two.
		if took := time.Since(began); took < 2*delay {
			t.Errorf("a call took %v, the wire alone takes %v", took, 2*delay)
		}
	}
}

// Mistakes are told before anything is made.
func TestTestbedRefuses(t *testing.T) {
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"up", "--bosses", "2"}, codeUsage, "two cannot outvote one another"},
		{[]string{"up", "--nodes", "0"}, codeUsage, "it must be 1 to"},
		{[]string{"up", "--delay", "3s"}, codeUsage, "it must be 0 to"},
		{[]string{"status"}, codeNotRunning, "ol testbed up"},
		{[]string{"partition"}, codeUsage, "HOST [OTHER...]"},
	} {
		code, _, talk := ol(t, t.TempDir(), append([]string{"testbed"}, tc.args...)...)
		if code != tc.code || !strings.Contains(talk, tc.want) {
			t.Errorf("%v: exit code %d: %s", tc.args, code, talk)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("the rest is not run: it needs root")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "precious"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, talk := ol(t, "", "testbed", "up", "-p", dir)
	if code == codeUnfit {
		t.Skipf("the rest is not run: this machine cannot run sandboxes: %s", talk)
	}
	if code != codeUsage || !strings.Contains(talk, "holds other things, precious among them") {
		t.Errorf("exit code %d: %s", code, talk)
	}
	if code, _, talk := ol(t, "", "testbed", "down", "-p", dir); code != 0 || !exists(filepath.Join(dir, "precious")) {
		t.Errorf("exit code %d: %s", code, talk)
	}
}
