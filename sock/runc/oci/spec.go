package oci

import (
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/opencontainers/cgroups"
	_ "github.com/opencontainers/cgroups/devices" // sets device rules; without it containers do not start
	devices "github.com/opencontainers/cgroups/devices/config"
	"github.com/opencontainers/runc/libcontainer/configs"
	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/sock/cgroup"
	"github.com/open-lambda/open-lambda/sock/runc"
)

// startProcs bounds processes and threads while libcontainer starts a
// container: its own init is a Go program with a dozen threads. The lambda's
// limit takes its place before any code of the lambda is loaded.
const startProcs = 256

// period over which a CPU quota is counted, microseconds: the kernel's default.
const period = 100_000

// Mount flags that every mount of a container has.
const guarded = unix.MS_NOSUID | unix.MS_NODEV

// masked and readOnly are what runc itself hides and protects by default in
// /proc, and what SOCK sandboxes hide besides.
func masked() []string {
	return []string{
		"/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
		"/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/proc/kallsyms", "/proc/interrupts",
	}
}

func readOnly() []string {
	return []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
}

// config describes a container in libcontainer's terms. dirs are where its
// scratch space, code and packages hang, in this order; network is a namespace
// to join, or empty.
func (b *base) config(id string, s runc.Start, dirs []string, network string) *configs.Config {
	c := &configs.Config{
		Rootfs: b.root, Readonlyfs: true, Hostname: s.Hostname,
		ParentDeathSignal: int(unix.SIGKILL), NoNewPrivileges: true,
		RootPropagation: unix.MS_PRIVATE | unix.MS_REC,
		Capabilities:    &configs.Capabilities{}, // none
		MaskPaths:       masked(), ReadonlyPaths: readOnly(),
		Rlimits: []configs.Rlimit{{Type: unix.RLIMIT_CORE}},
		Namespaces: configs.Namespaces{
			{Type: configs.NEWNS},
			{Type: configs.NEWPID},
			{Type: configs.NEWIPC},
			{Type: configs.NEWUTS},
			{Type: configs.NEWCGROUP},
		},
		Mounts:  append(containerMounts(s, dirs), b.resolvers(s.Network)...),
		Devices: nodes(),
		Cgroups: &cgroups.Cgroup{Path: path.Join(b.open.Folder, id), Resources: resources(cgroup.Limits{Procs: startProcs})},
	}
	if network != "" {
		c.Namespaces = append(c.Namespaces, configs.Namespace{Type: configs.NEWNET, Path: network})
	} else if s.Network == sock.NetworkNone {
		c.Namespaces = append(c.Namespaces, configs.Namespace{Type: configs.NEWNET})
		c.Networks = []*configs.Network{{Type: "loopback"}}
	}
	return c
}

func bind(source, target string, flags int) *configs.Mount {
	return &configs.Mount{Source: source, Device: "bind", Destination: target, Flags: unix.MS_BIND | guarded | flags}
}

// resolvers shows how the network looks names up, where the base has a file
// for it.
func (b *base) resolvers(network string) []*configs.Mount {
	var mounts []*configs.Mount
	for _, name := range []string{"resolv.conf", "hosts"} {
		source, target := filepath.Join(b.root, "runtime/net", network, name), filepath.Join("/etc", name)
		if regular(source) && regular(filepath.Join(b.root, target)) {
			mounts = append(mounts, bind(source, target, unix.MS_RDONLY))
		}
	}
	return mounts
}

func regular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

func containerMounts(s runc.Start, dirs []string) []*configs.Mount {
	tmpfs := func(target string, flags int, mode string, mb int64) *configs.Mount {
		return &configs.Mount{
			Source: "tmpfs", Device: "tmpfs", Destination: target, Flags: guarded | flags,
			Data: fmt.Sprintf("mode=%s,size=%dm", mode, mb),
		}
	}
	dev := tmpfs("/dev", unix.MS_NOEXEC|unix.MS_RDONLY, "755", 1)
	dev.Flags &^= unix.MS_NODEV
	handler := unix.MS_RDONLY
	if s.Writable {
		handler = 0
	}
	mounts := []*configs.Mount{
		{Source: "proc", Device: "proc", Destination: "/proc", Flags: guarded | unix.MS_NOEXEC},
		dev,
		tmpfs("/dev/shm", unix.MS_NOEXEC, "1777", s.ShmMB),
		tmpfs("/tmp", 0, "1777", s.TmpMB),
		bind(dirs[0], "/host", 0),
		bind(dirs[1], "/handler", handler),
	}
	if len(dirs) > 2 {
		mounts = append(mounts, tmpfs("/packages", unix.MS_RDONLY, "755", 1))
	}
	for i, dir := range dirs[2:] {
		mounts = append(mounts, bind(dir, path.Join("/packages", s.Packages[i]), unix.MS_RDONLY))
	}
	return mounts
}

// nodes are what programs cannot do without, the same as in a SOCK sandbox.
func nodes() []*devices.Device {
	numbers := []struct {
		path         string
		major, minor int64
	}{
		{"/dev/null", 1, 3},
		{"/dev/zero", 1, 5},
		{"/dev/full", 1, 7},
		{"/dev/random", 1, 8},
		{"/dev/urandom", 1, 9},
		{"/dev/tty", 5, 0},
	}
	var all []*devices.Device
	for _, n := range numbers {
		all = append(all, &devices.Device{
			Path: n.path, FileMode: 0o666,
			Rule: devices.Rule{Type: devices.CharDevice, Major: n.major, Minor: n.minor, Permissions: "rwm", Allow: true},
		})
	}
	return all
}

// resources are limits in libcontainer's terms. Swap is off, as with SOCK.
func resources(l cgroup.Limits) *cgroups.Resources {
	procs := int64(-1)
	if l.Procs > 0 {
		procs = int64(l.Procs)
	}
	r := &cgroups.Resources{PidsLimit: &procs}
	r.Devices = []*devices.Rule{{Type: devices.WildcardDevice, Major: devices.Wildcard, Minor: devices.Wildcard, Permissions: "rwm"}}
	for _, n := range nodes() {
		r.Devices = append(r.Devices, &n.Rule)
	}
	if l.MemMB > 0 {
		r.Memory = l.MemMB << 20
		r.MemorySwap = r.Memory // of both together
	}
	if l.CPUPercent > 0 {
		r.CpuPeriod, r.CpuQuota = period, int64(l.CPUPercent)*period/100
	}
	if l.Shares > 0 {
		r.CpuShares = uint64(max(2, l.Shares*1024/100))
		r.CpuWeight = uint64(min(l.Shares, 10_000))
	}
	return r
}
