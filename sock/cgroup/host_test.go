package cgroup

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

const limit = time.Minute

// hostDriver opens groups on the real host, removed at the end of the test.
func hostDriver(t *testing.T, instance string) *Driver {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: making cgroups needs root")
	}
	if r := Probe(); !r.OK() {
		t.Skipf("NOT RUN: host is unfit: %+v", r.Lacks)
	}
	d, err := Open(instance)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Clean(short(t)); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		for _, dir := range d.folders() {
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("%s is left", dir)
			}
		}
	})
	return d
}

func short(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

// sleeper starts a process in the group.
func sleeper(t *testing.T, g *Group) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if err := g.Attach(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestHostGroup(t *testing.T) {
	d := hostDriver(t, "test-group")
	g, err := d.Make("one")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Make("one"); err == nil {
		t.Error("a group can be made twice")
	}
	for _, l := range []Limits{{MemMB: 20, Procs: 3, CPUPercent: 50}, {MemMB: 100, Procs: 5}, {MemMB: 10}, {}} {
		if err := g.SetLimits(l); err != nil {
			t.Errorf("set %+v: %v", l, err)
		}
	}
	cmd := sleeper(t, g)
	if u, err := g.Usage(); err != nil || u.Pids != 1 {
		t.Errorf("usage is %+v, %v", u, err)
	}
	for _, frozen := range []bool{true, true, false, true} {
		if err := g.Freeze(frozen); err != nil {
			t.Error(err)
		}
	}
	if err := g.Kill(); err != nil { // while frozen
		t.Error(err)
	}
	_ = cmd.Wait()
	if err := g.Wait(short(t)); err != nil {
		t.Error(err)
	}
	if err := g.Remove(short(t)); err != nil {
		t.Error(err)
	}
}

func TestHostCleanRemovesLivingGroups(t *testing.T) {
	d := hostDriver(t, "test-clean")
	for _, name := range []string{"a", "b"} {
		g, err := d.Make(name)
		if err != nil {
			t.Fatal(err)
		}
		sleeper(t, g)
		if name == "b" {
			if err := g.Freeze(true); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(g.Path(), "nested"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	other, err := Open("test-clean") // as a successor would
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Clean(short(t)); err != nil {
		t.Error(err)
	}
	if left := d.children(); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
}

func TestPoolReuses(t *testing.T) {
	d := hostDriver(t, "test-pool")
	p := NewPool(d, "g", 2, true)
	if err := p.Fill(); err != nil {
		t.Fatal(err)
	}
	g, err := p.Get()
	if err != nil {
		t.Fatal(err)
	}
	cmd := sleeper(t, g)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err := g.Wait(short(t)); err != nil {
		t.Fatal(err)
	}
	if err := p.Put(short(t), g); err != nil {
		t.Fatal(err)
	}
	again, err := p.Get()
	if err != nil {
		t.Fatal(err)
	}
	if again != g {
		t.Errorf("got %s, not %s again", again.Name(), g.Name())
	}
	if u, err := again.Usage(); err != nil || u.CPU > 50*time.Millisecond || u.Pids != 0 {
		t.Errorf("usage is %+v, %v", u, err)
	}
	second := sleeper(t, again) // must live in a group that was used before
	if err := again.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = second.Wait()
	if err := again.Wait(short(t)); err != nil {
		t.Fatal(err)
	}
	if err := p.Put(short(t), again); err != nil {
		t.Fatal(err)
	}
	if p.Len() != 1 {
		t.Errorf("%d groups are ready: a killed one must not be kept", p.Len())
	}
	if err := p.Close(short(t)); err != nil {
		t.Error(err)
	}
}

func TestDelegate(t *testing.T) {
	d := hostDriver(t, "test-delegate")
	var dirs []string
	for _, name := range []string{"before", "after"} {
		g, err := d.Make(name)
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, g.unified)
		t.Cleanup(func() { _ = g.Remove(context.Background()) })
		if err := d.Delegate(delegated); err != nil {
			t.Fatal(err)
		}
	}
	owner := func(dir, name string) uint32 {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Sys().(*syscall.Stat_t).Uid
	}
	for _, dir := range append(dirs, d.unified) {
		if got := owner(dir, "cgroup.procs"); got != delegated {
			t.Errorf("%s takes processes from %d", dir, got)
		}
		if got := owner(dir, "cgroup.subtree_control"); got != 0 {
			t.Errorf("%s is ruled by %d", dir, got)
		}
	}
}

const delegated = 1_999_999_999
