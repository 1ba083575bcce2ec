package sock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// refusal is a kernel that refuses one kind of step while it is on.
type refusal struct {
	at  FaultPoint
	why syscall.Errno
	on  atomic.Bool
}

func (r *refusal) fault(p FaultPoint) error {
	if r.on.Load() && p == r.at {
		return r.why
	}
	return nil
}

// startRefusals are those that no start survives.
func startRefusals() map[FaultPoint]syscall.Errno {
	return map[FaultPoint]syscall.Errno{
		FaultCgroup: unix.EBUSY, FaultScratch: unix.ENOSPC, FaultNetwork: unix.ENOMEM,
		FaultControl: unix.EMFILE, FaultFork: unix.EAGAIN, FaultMount: unix.ENOMEM,
	}
}

// When the kernel refuses a step of a start, the start fails with the host's
// error and not the lambda's, nothing is left of it, and the next one succeeds.
func TestFaultsOfTheHost(t *testing.T) {
	for _, zygote := range []bool{true, false} {
		t.Run(fmt.Sprintf("zygote=%t", zygote), func(t *testing.T) {
			FaultsOf(t, sockKind(), func(cfg *Config) { cfg.Pool, cfg.Zygote = 0, zygote })
		})
	}
}

// FaultsOf does so for a kind of provider.
func FaultsOf(t *testing.T, kind Kind, change func(*Config)) {
	for at, why := range startRefusals() {
		t.Run(string(at), func(t *testing.T) {
			r := &refusal{at: at, why: why}
			cfg := settings(t)
			change(&cfg)
			if cfg.Zygote && at == FaultFork {
				t.Skip("a zygote forks by itself")
			}
			cfg.Fault = r.fault
			failsAndRecovers(t, open(t, kind, cfg), cfg, r)
		})
	}
	t.Run(string(FaultFreeze), func(t *testing.T) { freezeRefused(t, kind, change) })
	t.Run(string(FaultDial), func(t *testing.T) { dialRefused(t, kind, change) })
}

func failsAndRecovers(t *testing.T, p Maker, cfg Config, r *refusal) {
	t.Helper()
	destroy(t, create(t, p, code(t, "before", echo)))
	files, before := atRest(t, cfg)
	r.on.Store(true)
	for range 5 {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		_, err := p.Create(ctx, code(t, "refused", echo))
		cancel()
		var start *StartError
		if !errors.Is(err, r.why) || !errors.As(err, &start) || start.Lambda {
			t.Errorf("create gives %v, want the host's %v", err, r.why)
		}
	}
	if now := openFiles(t); now > files+5 {
		t.Errorf("%d files are open, before %d", now, files)
	}
	r.on.Store(false)
	s := create(t, p, code(t, "after", echo))
	call(t, s, "{}")
	destroy(t, s)
	now := count(t, cfg.Instance, cfg.Dir)
	if now.Processes > before.Processes || now.Files > before.Files || now.Mounts > before.Mounts || now.Cgroups > before.Cgroups {
		t.Errorf("now there are %+v, before %+v", now, before)
	}
}

// atRest counts open files and the rest once the provider has made everything
// that it makes ahead, that is, once the numbers stay alike for long enough that
// it would have begun to.
func atRest(t *testing.T, cfg Config) (files int, all census) {
	t.Helper()
	const enough = 30 // of 10 ms each; providers begin after 30 ms
	until := time.Now().Add(limit)
	for same := 0; same < enough; same++ {
		nowFiles, now := openFiles(t), count(t, cfg.Instance, cfg.Dir)
		if nowFiles != files || now != all {
			files, all, same = nowFiles, now, 0
		}
		if time.Now().After(until) {
			t.Fatal("the provider does not come to rest")
		}
		time.Sleep(10 * time.Millisecond)
	}
	return files, all
}

// livesOn returns a sandbox that lives when a step begins to be refused.
func livesOn(t *testing.T, kind Kind, change func(*Config), at FaultPoint, why syscall.Errno) (*refusal, *Sandbox) {
	t.Helper()
	r := &refusal{at: at, why: why}
	cfg := settings(t)
	change(&cfg)
	cfg.Fault = r.fault
	s := create(t, open(t, kind, cfg), code(t, "s", echo))
	r.on.Store(true)
	return r, s
}

// A sandbox that cannot be frozen goes on.
func freezeRefused(t *testing.T, kind Kind, change func(*Config)) {
	r, s := livesOn(t, kind, change, FaultFreeze, unix.EBUSY)
	if err := s.SetFrozen(true); !errors.Is(err, r.why) {
		t.Errorf("freezing gives %v", err)
	}
	call(t, s, "{}")
	r.on.Store(false)
	if err := errors.Join(s.SetFrozen(true), s.SetFrozen(false)); err != nil {
		t.Error(err)
	}
	call(t, s, "{}")
	destroy(t, s)
}

// A sandbox that could not be dialled can be, the next time.
func dialRefused(t *testing.T, kind Kind, change func(*Config)) {
	r, s := livesOn(t, kind, change, FaultDial, unix.EMFILE)
	if _, _, err := try(s, "{}"); !errors.Is(err, r.why) {
		t.Errorf("calling gives %v", err)
	}
	r.on.Store(false)
	call(t, s, "{}")
	destroy(t, s)
}

// While zygotes cannot fork, sandboxes are made without one.
func TestZygoteCannotFork(t *testing.T) {
	r := &refusal{at: FaultZygote, why: unix.EAGAIN}
	cfg := settings(t)
	cfg.Pool, cfg.Fault = 0, r.fault
	p := newProvider(t, cfg)
	warm(t, p)
	madeWithout(t, p, func() { r.on.Store(true) }, func() { r.on.Store(false) })
}

// The same, with a kernel that does refuse: the zygote's group may have no
// further process.
func TestZygoteIsRefusedToFork(t *testing.T) {
	cfg := settings(t)
	cfg.Pool = 0
	p := newProvider(t, cfg)
	warm(t, p)
	file := filepath.Join(groupWithPids(t, cfg.Instance), "pids.max")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { write("max") })
	madeWithout(t, p, func() { write("1") }, func() { write("max") })
}

func madeWithout(t *testing.T, p *Provider, begin, end func()) {
	t.Helper()
	origin := func(id string) string {
		s := create(t, p, code(t, id, echo))
		defer destroy(t, s)
		call(t, s, "{}")
		return s.Info().Origin
	}
	if got := origin("before"); got != FromZygote {
		t.Fatalf("the first sandbox is %s", got)
	}
	files, _ := atRest(t, p.cfg)
	begin()
	for range 3 {
		if got := origin("during"); got != Fresh {
			t.Errorf("while the zygote cannot fork a sandbox is %s", got)
		}
	}
	end()
	if got := origin("after"); got != FromZygote {
		t.Errorf("afterwards a sandbox is %s", got)
	}
	if now := openFiles(t); now > files+5 {
		t.Errorf("%d files are open, before %d", now, files)
	}
}

// groupWithPids is the zygote's group in the hierarchy that counts processes.
func groupWithPids(t *testing.T, instance string) string {
	t.Helper()
	for _, pattern := range []string{"/sys/fs/cgroup/openlambda-", "/sys/fs/cgroup/*/openlambda-"} {
		found, err := filepath.Glob(pattern + instance + "/zygote-*/pids.max")
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 {
			return strings.TrimSuffix(found[0], "/pids.max")
		}
	}
	t.Skip("NOT RUN: this machine counts no processes by group")
	return ""
}
