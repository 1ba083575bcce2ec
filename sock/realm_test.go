package sock

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/sock/ids"
)

// needUserNS skips, saying why, where the kernel gives no user namespaces.
func needUserNS(t testing.TB, p *Provider) {
	t.Helper()
	if p.users.realm == nil {
		t.Skip("NOT RUN: no user namespaces here: ", p.users.lack)
	}
}

// proc reads a file that the host has about a process.
func proc(t testing.TB, pid int, name string) string {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// statusOf returns one line of /proc/<pid>/status without its name.
func statusOf(t testing.TB, pid int, key string) string {
	t.Helper()
	for line := range strings.Lines(proc(t, pid, "status")) {
		if name, value, _ := strings.Cut(line, ":"); name == key {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("no %s in the status of %d", key, pid)
	return ""
}

func namespaceOf(t testing.TB, pid int, kind string) string {
	t.Helper()
	link, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, kind))
	if err != nil {
		t.Fatal(err)
	}
	return link
}

const owners = `
import os
def f(event):
    maps = {n: open("/proc/self/" + n).read().split() for n in ("uid_map", "gid_map")}
    return {"code": [os.stat("/handler/f.py").st_uid, os.stat("/handler/f.py").st_gid], "host": os.stat("/host").st_uid,
            "uid": maps["uid_map"][2], "gid": maps["gid_map"][2], "base": os.stat("/usr").st_uid}
`

// Whatever its origin, a sandbox has a user namespace with ids that nobody
// else has, and sees its code as root's.
func TestUserNamespaces(t *testing.T) {
	cases := []struct {
		origin string
		zygote bool
		pool   int
	}{{Fresh, false, 0}, {FromZygote, true, 0}, {FromPool, true, 2}}
	for _, c := range cases {
		t.Run(c.origin, func(t *testing.T) {
			cfg := settings(t)
			cfg.Zygote, cfg.Pool = c.zygote, c.pool
			p := newProvider(t, cfg)
			needUserNS(t, p)
			warm(t, p)
			mapped := map[string]bool{}
			for i := range 2 {
				s := create(t, p, code(t, fmt.Sprintf("s-%d", i), owners))
				if got := s.Info().Origin; got != c.origin {
					t.Errorf("origin is %q", got)
				}
				checkUserNamespace(t, p, s, mapped)
				_, answer := call(t, s, "{}")
				want := `{"code":[0,0],"host":1000,"uid":"1024","gid":"1024","base":65534}`
				if strings.ReplaceAll(answer, " ", "") != want {
					t.Errorf("inside: %s, want %s", answer, want)
				}
			}
		})
	}
}

func checkUserNamespace(t *testing.T, p *Provider, s *Sandbox, mapped map[string]bool) {
	t.Helper()
	pid, slice := s.body.(body).proc.pid, s.body.(body).place.ids
	want := fmt.Sprintf("0 %d %d", slice.First, ids.SliceSize)
	for _, file := range []string{"uid_map", "gid_map"} {
		if got := strings.Join(strings.Fields(proc(t, pid, file)), " "); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	if mapped[want] {
		t.Errorf("two sandboxes have the ids %s", want)
	}
	mapped[want] = true
	id := fmt.Sprint(lambdaID(slice))
	for _, key := range []string{"Uid", "Gid"} {
		if got := statusOf(t, pid, key); got != strings.Join([]string{id, id, id, id}, "\t") {
			t.Errorf("%s is %q, want %s", key, got, id)
		}
	}
	for _, kind := range []string{"user", "mnt", "pid", "ipc", "uts"} {
		if namespaceOf(t, pid, kind) == namespaceOf(t, os.Getpid(), kind) {
			t.Errorf("it shares the host's %s namespace", kind)
		}
	}
	if !strings.Contains(s.Info().Detail, fmt.Sprintf("user ids %d-", slice.First)) || !strings.Contains(p.Describe(), "user namespaces with 1024 ids") {
		t.Errorf("described as %q of %q", s.Info().Detail, p.Describe())
	}
}

// A zygote runs what packages do when they are imported. With user namespaces
// it is nobody on the host; without, it keeps what making sandboxes takes.
func TestZygoteIsConfined(t *testing.T) {
	for _, userNS := range []bool{true, false} {
		t.Run(fmt.Sprintf("userns=%t", userNS), func(t *testing.T) {
			cfg := settings(t)
			cfg.UserNS = userNS
			p := newProvider(t, cfg)
			if userNS {
				needUserNS(t, p)
			}
			warm(t, p)
			z, _ := p.nursery.get()
			pid := z.proc.pid
			if got := statusOf(t, pid, "NoNewPrivs") + statusOf(t, pid, "Seccomp"); got != "12" {
				t.Errorf("no_new_privs and seccomp are %s", got)
			}
			if got := statusOf(t, pid, "CapBnd"); strings.Trim(got, "0") != "" {
				t.Errorf("bounding set is %s", got)
			}
			uid := strings.Fields(statusOf(t, pid, "Uid"))[0]
			if userNS {
				if uid != fmt.Sprint(p.users.block.First) || namespaceOf(t, pid, "user") == namespaceOf(t, os.Getpid(), "user") {
					t.Errorf("it has the host's user id %s, namespace %s", uid, namespaceOf(t, pid, "user"))
				}
				for _, parked := range p.pool.parked {
					if got := statusOf(t, parked.proc.pid, "Uid"); strings.Fields(got)[0] != fmt.Sprint(parked.place.ids.First) {
						t.Errorf("a parked child has the host's user id %s", got)
					}
				}
			} else if got := statusOf(t, pid, "CapPrm"); got != "00000000002011c0" || uid != "0" {
				t.Errorf("it has capabilities %s, user id %s", got, uid)
			}
			if got, want := len(strings.Fields(strings.ReplaceAll(proc(t, pid, "environ"), "\x00", " "))), len(Environment()); got != want {
				t.Errorf("it has %d variables, want %d", got, want)
			}
		})
	}
}

// File systems that cannot show other owners show the ones they have.
func TestCodeWithoutIDMapping(t *testing.T) {
	cfg := settings(t)
	p := newProvider(t, cfg)
	needUserNS(t, p)
	warm(t, p)
	spec := code(t, "plain", "import os\ndef f(event):\n    return os.stat('/packages/p').st_uid\n")
	spec.Packages = []Package{{Name: "p", Dir: "/proc/self"}} // proc has no mapped mounts
	s := create(t, p, spec)
	if _, answer := call(t, s, "{}"); strings.TrimSpace(answer) != "65534" {
		t.Errorf("owner is %s", answer)
	}
}

// What a worker that was killed has claimed is free again.
func TestIDsAreGivenBack(t *testing.T) {
	cfg := settings(t)
	p := newProvider(t, cfg)
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	cfg.Dir = filepath.Join(t.TempDir(), "again")
	again := newProvider(t, cfg)
	if again.users.block.Index < 0 || again.users.block.First == 0 {
		t.Errorf("block is %+v", again.users.block)
	}
}
