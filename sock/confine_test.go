package sock

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// probe tells what a lambda sees and can do.
const probe = `
import ctypes, errno, os, socket, subprocess, sys
print("loading", flush=True)
libc = ctypes.CDLL(None, use_errno=True)

def attempt(call):
    try:
        call()
        return "done"
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e.errno))

def syscall(*args):
    ctypes.set_errno(0)
    r = libc.syscall(*args)
    return "done" if r >= 0 else errno.errorcode.get(ctypes.get_errno())

def write(path):
    with open(path, "w") as f:
        f.write("x")

def status():
    with open("/proc/self/status") as f:
        return {k: v.strip() for k, _, v in (line.partition(":") for line in f)}

def f(event):
    s = status()
    return {
        "ids": [os.getuid(), os.geteuid(), os.getgid(), os.getegid(), os.getgroups()],
        "caps": [s[k] for k in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
        "no_new_privs": s["NoNewPrivs"], "seccomp": s["Seccomp"], "pid": os.getpid(),
        "syslog": syscall(103, 3, 0, 0),
        "mount": syscall(165, b"none", b"/tmp", b"tmpfs", 0, 0),
        "move_mount": syscall(429, -1, b"", -100, b"/tmp", 4), "sethostname": syscall(170, b"x", 1),
        "remount": syscall(165, b"none", b"/", 0, 32 | 4096, 0), "setns": syscall(308, 0, 0),
        "unshare": syscall(272, 0x10000000), "clone_newuser": syscall(56, 0x10000000 | 17, 0, 0, 0, 0),
        "clone3": syscall(435, 0, 0), "ptrace": syscall(101, 0, 0, 0, 0), "bpf": syscall(321, 0, 0, 0),
        "keyctl": syscall(250, 0, 0, 0, 0, 0), "io_uring": syscall(425, 1, 0),
        "socket_alg": attempt(lambda: socket.socket(38, socket.SOCK_SEQPACKET)),
        "socket_alg_high": syscall(41, ctypes.c_ulong(0x100000000 | 38), 5, 0),
        "x32": syscall(0x40000000 | 39),
        "mknod": attempt(lambda: os.mknod("/tmp/null", 0o20666, os.makedev(1, 3))),
        "write_root": attempt(lambda: write("/x")), "write_usr": attempt(lambda: write("/usr/x")),
        "write_etc": attempt(lambda: write("/etc/x")), "write_dev": attempt(lambda: write("/dev/x")),
        "write_handler": attempt(lambda: write("/handler/x")), "write_runtime": attempt(lambda: write("/runtime/x")),
        "write_tmp": attempt(lambda: write("/tmp/x")), "write_host": attempt(lambda: write("/host/x")),
        "write_shm": attempt(lambda: write("/dev/shm/x")), "write_null": attempt(lambda: write("/dev/null")),
        "sysrq": attempt(lambda: write("/proc/sysrq-trigger")),
        "proc_sys": attempt(lambda: write("/proc/sys/kernel/hostname")),
        "setuid": attempt(lambda: os.setuid(0)),
        "root": sorted(os.listdir("/")), "host": sorted(os.listdir("/host")),
        "pids": sorted(int(n) for n in os.listdir("/proc") if n.isdigit()),
        "fds": sorted(os.listdir("/proc/self/fd")), "mounts": open("/proc/self/mountinfo").read(),
        "env": dict(os.environ), "cwd": os.getcwd(), "name": socket.gethostname(),
        "nets": sorted(n for _, n in socket.if_nameindex()),
        "path": sys.path,
        "child": subprocess.run(["/bin/sh", "-c", "echo hi"], capture_output=True).stdout.decode(),
        "dns": open("/etc/resolv.conf").read(),
        "shadow": os.path.exists("/etc/shadow"), "user": __import__("pwd").getpwuid(os.getuid()).pw_dir,
    }
`

// view is the part of the probe's answer that is compared as text.
type view map[string]any

func look(t *testing.T, s *Sandbox) view {
	t.Helper()
	status, answer := call(t, s, "{}")
	if status != 200 {
		t.Fatalf("probe failed: %d %s", status, answer)
	}
	var v view
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestConfinement(t *testing.T) {
	for i := range 4 {
		pooled, userNS := i&1 == 0, i&2 == 0
		t.Run(fmt.Sprintf("pooled=%t,userns=%t", pooled, userNS), func(t *testing.T) {
			cfg := settings(t)
			cfg.UserNS = userNS
			if !pooled {
				cfg.Zygote, cfg.Pool = false, 0
			}
			p := newProvider(t, cfg)
			warm(t, p)
			checkIDs(t, p, look(t, create(t, p, code(t, "probe", probe))))
			confines(t, p)
		})
	}
}

// confines checks what a lambda sees and can do. Some refusals come in two
// kinds, depending on what refuses first.
func confines(t *testing.T, p Maker) {
	want := map[string]string{
		"no_new_privs": "1", "seccomp": "2", "pid": "1",
		"syslog": "EPERM", "mount": "EPERM", "move_mount": "EPERM", "sethostname": "EPERM", "remount": "EPERM", "setns": "EPERM", "unshare": "EPERM", "clone_newuser": "EPERM", "clone3": "ENOSYS",
		"ptrace": "EPERM", "bpf": "EPERM", "keyctl": "EPERM", "io_uring": "EPERM",
		"socket_alg": "EPERM", "socket_alg_high": "EPERM", "x32": "ENOSYS",
		"mknod": "EPERM", "write_root": "EROFS", "write_usr": "EROFS", "write_etc": "EROFS", "write_dev": "EROFS",
		"write_handler": "EROFS", "write_runtime": "EROFS",
		"write_tmp": "done", "write_host": "done", "write_shm": "done", "write_null": "done",
		"proc_sys": "EACCES|EROFS", "setuid": "EPERM",
		"env": "map[COLOUR:blue]", "cwd": "/handler", "child": "hi\n", "shadow": "false", "user": "/tmp",
		"pids": "[1]", "host": "[ol.sock x]",
		"caps": "[0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000]",
	}
	s := create(t, p, code(t, "probe", probe))
	defer destroy(t, s)
	v := look(t, s)
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got := fmt.Sprint(v[key]); got != want[key] && !slices.Contains(strings.Split(want[key], "|"), got) {
			t.Errorf("%s is %q, want %q", key, got, want[key])
		}
	}
	if v["sysrq"] == "done" {
		t.Error("the kernel's request key can be pressed")
	}
	checkMounts(t, fmt.Sprint(v["mounts"]))
	if v["name"] != "probe" {
		t.Errorf("host name is %v", v["name"])
	}
	t.Log("descriptors", v["fds"], "root", v["root"], "path", v["path"])
	t.Log("mounts\n" + fmt.Sprint(v["mounts"]))
}

func checkIDs(t *testing.T, p *Provider, v view) {
	t.Helper()
	n := lambdaUser
	if !p.cfg.UserNS {
		n = int(p.users.block.First) + lambdaUser
	}
	low, high := n, n+int(p.users.block.Count)
	if p.cfg.UserNS {
		high = low
	}
	var ids []int
	for _, id := range v["ids"].([]any)[:4] {
		ids = append(ids, int(id.(float64)))
	}
	if slices.Min(ids) != slices.Max(ids) || ids[0] < low || ids[0] > high || len(v["ids"].([]any)[4].([]any)) > 0 {
		t.Errorf("ids are %v, want one of %d to %d", v["ids"], low, high)
	}
}

// checkMounts wants every mount to refuse set-user-id files, and all but the
// sandbox's own space to be read-only.
func checkMounts(t *testing.T, mountinfo string) {
	t.Helper()
	writable := []string{"/proc", "/tmp", "/dev/shm", "/host"}
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		target, options := fields[4], strings.Split(fields[5], ",")
		bare := strings.HasPrefix(target, "/proc/") // a mask: /dev/null, or an empty directory
		if !slices.Contains(options, "ro") && !slices.Contains(writable, target) && !bare {
			t.Errorf("%s is writable: %s", target, line)
		}
		if !slices.Contains(options, "nosuid") && !bare {
			t.Errorf("%s allows set-user-id: %s", target, line)
		}
	}
}

// alone checks a sandbox without a network.
func alone(t *testing.T, p Maker) {
	spec := code(t, "probe", probe)
	spec.Network = NetworkNone
	s := create(t, p, spec)
	defer destroy(t, s)
	v := look(t, s)
	if got := fmt.Sprint(v["nets"]); got != "[lo]" {
		t.Errorf("networks are %s", got)
	}
	if v["dns"] != "" {
		t.Error("there is a resolver configuration")
	}
}

func TestSeccompOff(t *testing.T) {
	cfg := settings(t)
	cfg.Seccomp, cfg.Pool = false, 1
	p := newProvider(t, cfg)
	warm(t, p)
	const source = "def f(event):\n    return open('/proc/self/status').read()\n"
	if _, answer := call(t, create(t, p, code(t, "probe", source)), "{}"); !strings.Contains(answer, `Seccomp:\t0`) {
		t.Errorf("there is a filter: %s", answer)
	}
}

func TestTwoSandboxesDoNotSeeEachOther(t *testing.T) {
	p := newProvider(t, settings(t))
	warm(t, p)
	a := create(t, p, code(t, "a", probe))
	b := create(t, p, code(t, "b", probe))
	look(t, a)
	if a.body.(body).place.ids == b.body.(body).place.ids {
		t.Errorf("both have the ids %v", a.body.(body).place.ids)
	}
	if got := fmt.Sprint(look(t, b)["host"]); got != "[ol.sock x]" {
		t.Errorf("scratch of b holds %s", got)
	}
}
