package testbed

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inside is set in the process that has mounts and a network of its own.
const inside = "OL_TESTBED_INSIDE"

// apart runs a test once more, in a process with mounts and a network of its
// own and an empty /run, so that nothing of this machine is touched. true: this
// is that process.
func apart(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inside) != "" {
		for _, m := range []struct {
			source, target, kind string
			flags                uintptr
		}{{"", "/", "", unix.MS_PRIVATE | unix.MS_REC}, {"run", "/run", "tmpfs", 0}} {
			if err := unix.Mount(m.source, m.target, m.kind, m.flags, ""); err != nil {
				t.Fatalf("mount %s: %v", m.target, err)
			}
		}
		return true
	}
	if os.Geteuid() != 0 {
		t.Skip("not run: namespaces of mounts and networks need root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("not run: there is no iproute2 on this machine")
	}
	c := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	c.Env = append(os.Environ(), inside+"=yes")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

func ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mounts counts the mounts on the directory of namespaces itself, this machine's
// included, which /run hides, and those on namespaces of a prefix.
func mounts(t *testing.T, prefix string) (dirs, named int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	must(t, err)
	for line := range strings.Lines(string(text)) {
		switch at := strings.Fields(line)[4]; {
		case at == nsDir:
			dirs++
		case strings.HasPrefix(at, nsDir+"/"+prefix):
			named++
		}
	}
	return dirs, named
}

// Namespaces that others add by iproute2, before us or after, neither hide ours
// nor are touched.
func TestNamespacesOfOthers(t *testing.T) {
	if !apart(t) {
		return
	}
	before, _ := mounts(t, "")
	n, hosts := Network{Prefix: "olo", Subnet: "10.79.78"}, []Host{{"boss1", 11}, {"node1", 21}}
	for _, first := range []string{"ours", "theirs"} {
		if first == "theirs" {
			ip(t, "netns", "add", "theirs")
		}
		must(t, n.Up(hosts))
		if first == "ours" {
			ip(t, "netns", "add", "theirs")
		}
		must(t, n.In("node1", func() error { return nil }))
		if err := n.Down(); err != nil {
			t.Errorf("down, %s first: %v", first, err)
		}
		if dirs, named := mounts(t, n.Prefix+"-"); dirs != before+1 || named != 0 {
			t.Errorf("%s first: %d mounts on %s, there were %d, %d namespaces of ours are left", first, dirs, nsDir, before, named)
		}
		ip(t, "netns", "exec", "theirs", "true")
		ip(t, "netns", "del", "theirs")
		must(t, unix.Unmount(nsDir, 0)) // as if nobody had ever been here
	}
	must(t, os.Remove(nsDir))
}

// Testbeds that come and go at the same time leave each other alone.
func TestTestbedsSideBySide(t *testing.T) {
	if !apart(t) {
		return
	}
	before, _ := mounts(t, "")
	const many = 4
	done := make(chan error, many)
	for i := range many {
		go func() {
			done <- comeAndGo(Network{Prefix: fmt.Sprintf("olp%d", i), Subnet: fmt.Sprintf("10.79.%d", 80+i)})
		}()
	}
	for range many {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if dirs, named := mounts(t, "olp"); dirs != before+1 || named != 0 {
		t.Errorf("%d mounts on %s, there were %d, %d namespaces are left", dirs, nsDir, before, named)
	}
}

func comeAndGo(n Network) error {
	hosts := []Host{{"boss1", 11}, {"node1", 21}}
	for range 3 {
		if err := n.Up(hosts); err != nil {
			return err
		}
		for _, h := range hosts {
			if _, err := os.Stat(filepath.Join(nsDir, n.ns(h.Name))); err != nil || !n.Connected(h.Name) {
				return fmt.Errorf("host %s of %s is not there: %w", h.Name, n.Prefix, err)
			}
		}
		if err := n.Down(); err != nil {
			return err
		}
	}
	return nil
}
