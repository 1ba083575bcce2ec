package sock

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A child that a zygote made before it died is reaped, whether it lives or has
// ended as well; those of others are left to them.
func TestStraysAreReaped(t *testing.T) {
	cfg := settings(t)
	cfg.Zygote, cfg.Pool = false, 0
	p := newProvider(t, cfg)
	group, err := p.groups.Get()
	if err != nil {
		t.Fatal(err)
	}
	other, err := p.groups.Get()
	if err != nil {
		t.Fatal(err)
	}
	start := func(program string, in *os.File) int {
		pid, pidfd, err := p.spawner.start(spawnJob{
			args: []string{"-I", "-S", "-c", program}, files: []*os.File{p.null, p.null, p.null}, cgroup: in,
		})
		if err != nil {
			t.Fatal(err)
		}
		unix.Close(pidfd)
		return pid
	}
	alive := start("import time; time.sleep(600)", group.File())
	dead, others := start("", group.File()), start("", other.File())
	for _, pid := range []int{dead, others} {
		awaitDead(t, pid)
	}
	p.reapStrays(group)
	for _, pid := range []int{alive, dead} {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
	if _, err := unix.Wait4(others, nil, 0, nil); err != nil {
		t.Errorf("the child of another group: %v", err)
	}
	p.returnGroup(group)
	p.returnGroup(other)
}

// awaitDead waits until a child has ended, without reaping it.
func awaitDead(t *testing.T, pid int) {
	t.Helper()
	var info unix.Siginfo
	deadline := time.Now().Add(limit)
	for {
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			return
		}
		if !errors.Is(err, unix.EINTR) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
