package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// holderProcess returns a handle of the process that runs a worker in dir, nil
// if there is none. The handle stands for that very process: if it ends, what
// is sent to the handle reaches nobody.
func holderProcess(dir string) (*os.Process, error) {
	pid, err := lockHolder(dir)
	if err != nil || pid == 0 {
		return nil, err
	}
	process, err := os.FindProcess(pid) // opens a pidfd
	if err != nil {
		return nil, fmt.Errorf("find process %d: %w", pid, err)
	}
	// The holder may have ended, and its number have passed on, before the
	// handle was there: then the lock is not its any more.
	again, err := lockHolder(dir)
	if err != nil || again != pid {
		return nil, errors.Join(err, process.Release())
	}
	return process, nil
}

// signalAndWait sends a signal and waits until the process has ended.
func signalAndWait(ctx context.Context, process *os.Process, signal os.Signal, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := process.Signal(signal); errors.Is(err, os.ErrProcessDone) {
		return nil
	} else if err != nil {
		return fmt.Errorf("signal process %d: %w", process.Pid, err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if ended(process) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for process %d: %w", process.Pid, ctx.Err())
		case <-tick.C:
		}
	}
}

// ended tells whether a process is gone. One that its parent has not waited for
// yet is: some parents take seconds for that.
func ended(process *os.Process) bool {
	if errors.Is(process.Signal(unix.Signal(0)), os.ErrProcessDone) {
		return true
	}
	fd, err := unix.PidfdOpen(process.Pid, 0)
	if err != nil {
		return errors.Is(err, unix.ESRCH)
	}
	defer unix.Close(fd)
	// It can be read once the process has ended (pidfd_open(2)).
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return err == nil && n == 1
}
