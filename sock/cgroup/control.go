package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// settle bounds the wait for the kernel to stop the processes of a group.
const settle = 5 * time.Second

// Freeze stops every process of the group, or lets them go on, and returns
// when the kernel says so. The kernel reports the change at once in
// cgroup.events but announces it by poll up to 13 ms later, so the file is
// read again instead.
func (g *Group) Freeze(frozen bool) error {
	value := "0"
	if frozen {
		value = "1"
	}
	if err := writeFile(g.unified, "cgroup.freeze", value); err != nil {
		return fmt.Errorf("freeze cgroup: %w", err)
	}
	if !frozen {
		return nil // thawing needs no wait: tasks run as soon as they are scheduled
	}
	ctx, cancel := context.WithTimeout(context.Background(), settle)
	defer cancel()
	if err := g.await(ctx, "frozen", 1); err != nil {
		return fmt.Errorf("freeze cgroup: %w", err)
	}
	return nil
}

// Kill sends SIGKILL to every process of the group, frozen ones too. Wait
// tells when they are gone. The group cannot be used again: Linux (seen on
// 6.18) also kills at birth whatever is cloned into a group that was killed
// once, when the cloner's own group was not.
func (g *Group) Kill() error {
	g.mu.Lock()
	g.spent = true
	g.mu.Unlock()
	if err := killDir(g.unified); err != nil {
		return fmt.Errorf("kill cgroup: %w", err)
	}
	return nil
}

// Wait returns when no process is left in the group.
func (g *Group) Wait(ctx context.Context) error {
	if err := g.await(ctx, "populated", 0); err != nil {
		return fmt.Errorf("wait for cgroup: %w", err)
	}
	return nil
}

// Remove deletes the group, which must be empty. The kernel may take some
// time after the last exit, so it is tried until ctx ends.
func (g *Group) Remove(ctx context.Context) error {
	err := retry(ctx, func() (bool, error) {
		err := g.removeDirs()
		return err == nil, ignoreBusy(err)
	})
	g.Close()
	if err != nil {
		return fmt.Errorf("remove cgroup: %w", err)
	}
	return nil
}

// await re-reads cgroup.events until a key has a value.
func (g *Group) await(ctx context.Context, key string, want int64) error {
	buf := make([]byte, 128)
	return retry(ctx, func() (bool, error) {
		n, err := unix.Pread(int(g.events.Fd()), buf, 0)
		if err != nil {
			return false, fmt.Errorf("read cgroup events: %w", err)
		}
		have, err := findKey(buf[:n], key)
		return have == want, err
	})
}

// retry calls done with growing pauses, from 20 us to 2 ms, until it says
// true, fails, or ctx ends: the kernel offers no better way to wait.
func retry(ctx context.Context, done func() (bool, error)) error {
	for pause := 20 * time.Microsecond; ; pause = min(2*pause, 2*time.Millisecond) {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}

func ignoreBusy(err error) error {
	if errors.Is(err, unix.EBUSY) || errors.Is(err, unix.EAGAIN) {
		return nil
	}
	return err
}

// killDir kills a v2 subtree: by cgroup.kill, or process by process on kernels
// before 5.14.
func killDir(dir string) error {
	err := writeFile(dir, "cgroup.kill", "1")
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	pids, err := pidsIn(dir)
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// Pids lists the processes in the group. Dead ones are not in it.
func (g *Group) Pids() ([]int, error) {
	pids, err := pidsIn(g.unified)
	if err != nil {
		return nil, fmt.Errorf("list cgroup: %w", err)
	}
	return pids, nil
}

// pidsIn lists the processes of a directory, without those of other pid
// namespaces, which the kernel shows as 0.
func pidsIn(dir string) ([]int, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return nil, err
	}
	var pids []int
	for field := range strings.FieldsSeq(string(raw)) {
		if pid, err := strconv.Atoi(field); err == nil && pid > 1 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
