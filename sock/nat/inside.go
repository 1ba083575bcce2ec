package nat

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Inside runs f on a thread that is in a network namespace for so long. Threads
// that cannot come back are not used again.
func Inside(ns *os.File, f func() error) error {
	runtime.LockOSThread()
	home, err := here()
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer home.Close()
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("enter network namespace: %w", err)
	}
	err = f()
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		return fmt.Errorf("leave network namespace: %w", back)
	}
	runtime.UnlockOSThread()
	return err
}

// here opens the network namespace of the calling thread.
func here() (*os.File, error) {
	f, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, fmt.Errorf("open network namespace: %w", err)
	}
	return f, nil
}

// Make makes network namespaces that belong to the host's root.
func Make(n int) (made []*os.File, err error) {
	runtime.LockOSThread()
	home, err := here()
	if err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	defer home.Close()
	for len(made) < n && err == nil {
		var ns *os.File
		if err = unix.Unshare(unix.CLONE_NEWNET); err != nil {
			err = fmt.Errorf("make network namespace: %w", err)
		} else if ns, err = here(); err == nil {
			made = append(made, ns)
		}
	}
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		err = fmt.Errorf("leave network namespace: %w", back) // the thread is lost
	} else {
		runtime.UnlockOSThread()
	}
	if err != nil {
		closeAll(made)
		return nil, err
	}
	return made, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
