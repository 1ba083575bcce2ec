package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A worker holds a record lock on a file in its directory. The kernel gives it
// up when the process ends, however it ends, and names the holder to whoever
// asks; so unlike a number in a file it never points at a stranger.

// lockDir makes this process the one worker of dir until it ends.
func lockDir(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock directory: %w", err)
	}
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	err = unix.FcntlFlock(file.Fd(), unix.F_SETLK, &lock)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("lock directory: %w", err)
	}
	return file, nil
}

// lockHolder returns the process that runs a worker in dir, 0 if there is none.
func lockHolder(dir string) (int, error) {
	file, err := os.Open(filepath.Join(dir, lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("find lock: %w", err)
	}
	defer file.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(file.Fd(), unix.F_GETLK, &lock); err != nil {
		return 0, fmt.Errorf("ask for holder of lock: %w", err)
	}
	if lock.Type == unix.F_UNLCK {
		return 0, nil
	}
	if lock.Pid <= 0 {
		return 0, errors.New("ask for holder of lock: it is in another pid namespace")
	}
	return int(lock.Pid), nil
}
