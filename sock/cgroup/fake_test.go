package cgroup

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeV2 is a directory that looks like a full v2 tree to the driver: files
// are put in where the kernel would.
func fakeV2(t *testing.T) Layout {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, "cgroup.controllers", "cpuset cpu io memory pids\n")
	put(t, dir, "cgroup.subtree_control", "memory\n")
	base := filepath.Join(dir, "openlambda-fake")
	mkdir(t, base)
	put(t, base, "cgroup.subtree_control", "")
	return Layout{Unified: Hierarchy{Mount: dir, Own: dir}}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func got(t *testing.T, dir, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// fakeGroup is a group whose files the test provides.
func fakeGroup(t *testing.T) *Group {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cgroup.events": "populated 0\nfrozen 1\n", "cgroup.freeze": "", "cgroup.kill": "", "cgroup.procs": "",
		"memory.max": "", "memory.swap.max": "", "memory.current": "4096\n", "memory.events": "low 0\noom 3\noom_kill 2\n",
		"pids.max": "", "pids.current": "3\n", "cpu.max": "", "cpu.weight": "", "cpu.stat": "usage_usec 1500\nuser_usec 1\n",
	} {
		put(t, dir, name, text)
	}
	g := &Group{name: "g", unified: dir, v2: map[string]bool{memory: true, pids: true, cpu: true}}
	if err := g.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func TestV2EnablesControllers(t *testing.T) {
	l := fakeV2(t)
	d, err := OpenLayout(l, "fake")
	if err != nil {
		t.Fatal(err)
	}
	if have := got(t, l.Unified.Mount, "cgroup.subtree_control"); !strings.HasPrefix(have, "+pids +cpu") {
		t.Errorf("root got %q: memory was enabled already", have)
	}
	if have := got(t, d.unified, "cgroup.subtree_control"); have != "+memory +pids +cpu" {
		t.Errorf("folder got %q", have)
	}
	if !strings.HasPrefix(d.Describe(), "cgroup v2 at ") || strings.Contains(d.Describe(), "v1") {
		t.Errorf("described as %q", d.Describe())
	}
}

func TestV2Limits(t *testing.T) {
	g := fakeGroup(t)
	cases := []struct {
		limits Limits
		want   map[string]string
	}{
		{Limits{MemMB: 50, CPUPercent: 150, Procs: 10, Shares: 200}, map[string]string{
			"memory.max": "52428800", "memory.swap.max": "0", "cpu.max": "150000 100000", "cpu.weight": "200", "pids.max": "10",
		}},
		{Limits{}, map[string]string{"memory.max": "max", "cpu.max": "max 100000", "cpu.weight": "100", "pids.max": "max"}},
	}
	for _, c := range cases {
		for name := range c.want {
			put(t, g.unified, name, "")
		}
		if err := g.SetLimits(c.limits); err != nil {
			t.Fatal(err)
		}
		for name, want := range c.want {
			if have := strings.TrimRight(got(t, g.unified, name), "\x00"); have != want {
				t.Errorf("%s is %q, want %q", name, have, want)
			}
		}
	}
}

func TestUnchangedLimitsAreNotWritten(t *testing.T) {
	g := fakeGroup(t)
	l := Limits{MemMB: 50, Procs: 5}
	if err := g.SetLimits(l); err != nil {
		t.Fatal(err)
	}
	put(t, g.unified, "memory.max", "untouched")
	if err := g.SetLimits(l); err != nil {
		t.Fatal(err)
	}
	if have := got(t, g.unified, "memory.max"); have != "untouched" {
		t.Errorf("memory.max was written: %q", have)
	}
}

func TestV2Usage(t *testing.T) {
	g := fakeGroup(t)
	if err := g.mark(); err != nil {
		t.Fatal(err)
	}
	put(t, g.unified, "memory.events", "oom_kill 5\n")
	put(t, g.unified, "cpu.stat", "usage_usec 2500\n")
	u, err := g.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if u.MemBytes != 4096 || u.Pids != 3 || u.OOMKills != 3 || u.CPU.Microseconds() != 1000 {
		t.Errorf("usage is %+v", u)
	}
}

func TestV2FreezeAndKill(t *testing.T) {
	g := fakeGroup(t)
	if err := g.Freeze(true); err != nil {
		t.Fatal(err)
	}
	if have := got(t, g.unified, "cgroup.freeze"); have != "1" {
		t.Errorf("cgroup.freeze is %q", have)
	}
	if err := g.Kill(); err != nil {
		t.Fatal(err)
	}
	if have := got(t, g.unified, "cgroup.kill"); have != "1" {
		t.Errorf("cgroup.kill is %q", have)
	}
	if err := g.renew(); err == nil {
		t.Error("a killed group is used again")
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := g.Wait(ctx); err != nil {
		t.Errorf("wait: %v", err)
	}
	put(t, g.unified, "cgroup.events", "populated 1\nfrozen 0\n")
	cancel()
	if err := g.Wait(ctx); err == nil {
		t.Error("waited for a group with processes")
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, name := range []string{"", "..", "a/b", "A b", "-x"} {
		if _, err := OpenLayout(fakeV2(t), name); err == nil {
			t.Errorf("name %q is accepted", name)
		}
	}
	if _, err := OpenLayout(Layout{}, "x"); err == nil {
		t.Error("a host without cgroup v2 is accepted")
	}
}

func TestProbe(t *testing.T) {
	full := fakeV2(t)
	poor := fakeV2(t)
	put(t, poor.Unified.Mount, "cgroup.controllers", "cpu pids\n")
	cases := []struct {
		name   string
		layout Layout
		lacks  int
		word   string
	}{
		{"full", full, 0, ""},
		{"no memory controller", poor, 1, "cgroup_enable=memory"},
		{"no v2", Layout{}, 1, "mount -t cgroup2"},
		{"gone", Layout{Unified: Hierarchy{"/nonexistent", "/nonexistent"}}, 4, "as root"},
	}
	for _, c := range cases {
		r := probe(c.layout)
		if len(r.Lacks) != c.lacks || r.OK() != (c.lacks == 0) {
			t.Errorf("%s: lacks are %+v", c.name, r.Lacks)
			continue
		}
		if c.lacks > 0 && !strings.Contains(r.Lacks[len(r.Lacks)-1].Mend, c.word) {
			t.Errorf("%s: mend is %q", c.name, r.Lacks[len(r.Lacks)-1].Mend)
		}
	}
}
