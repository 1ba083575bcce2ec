package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/src/testbed"
)

// reserveTestbed makes this process the one that makes or removes the testbed
// in a directory.
func reserveTestbed(what, dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fail(codeFailed, what, err, "")
	}
	lock, err := lockDir(dir)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		pid, err := lockHolder(dir)
		if err == nil {
			err = fmt.Errorf("process %d is making or removing it", pid)
		}
		return nil, fail(codeFailed, what, err, "wait for it, then type it again")
	}
	if err != nil {
		return nil, fail(codeFailed, what, err, "")
	}
	return lock, nil
}

// removeTestbed ends every process of the testbed in dir and removes its
// network; the directory remains. Whatever is missing already is no error.
func removeTestbed(ctx context.Context, s streams, dir string) error {
	ctx = context.WithoutCancel(ctx) // whoever is interrupted cleans up too
	t, err := loadTestbed(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fail(codeFailed, "remove testbed", err, "")
	}
	// Workers first: what runs on them may end while bosses are there.
	errs := []error{t.cleanAll(ctx, s, false), t.cleanAll(ctx, s, true), t.signal(relayName, unix.SIGKILL), t.network().Down()}
	if err := errors.Join(errs...); err != nil {
		return fail(codeFailed, "remove testbed", err, "type it again: ol testbed down")
	}
	return nil
}

// cleanAll cleans the hosts with bosses, or those with workers, all at once.
func (t *testbedState) cleanAll(ctx context.Context, s streams, bosses bool) error {
	errs := make([]error, len(t.Hosts))
	var wg sync.WaitGroup
	for i, h := range t.Hosts {
		if isBoss(h) != bosses {
			continue
		}
		wg.Go(func() {
			if err := t.clean(ctx, s, h); err != nil {
				errs[i] = fmt.Errorf("end %s: %w", h.Name, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// clean ends the process of a host, and what a killed one has left.
func (t *testbedState) clean(ctx context.Context, s streams, h testbed.Host) error {
	polite := t.signal(h.Name, unix.SIGINT)
	// Whoever does not end in time, and whoever nobody knows of: a start that
	// was killed leaves a process that holds no lock yet.
	if err := t.network().Kill(h.Name); err != nil {
		return errors.Join(polite, err)
	}
	dir := t.hostDir(h.Name)
	if isBoss(h) || !exists(filepath.Join(dir, configFile)) {
		return nil
	}
	n, err := openNode(s, dir)
	if err != nil {
		return err
	}
	return cleanNode(ctx, n)
}

// forget empties a testbed's directory, which is one only if it says so. The
// lock stays, and the mark goes last.
func forget(dir string) error {
	if !exists(testbedFile(dir)) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fail(codeFailed, "remove testbed", err, "")
	}
	var errs []error
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); e.Name() != lockFile && path != testbedFile(dir) {
			errs = append(errs, os.RemoveAll(path))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fail(codeFailed, "remove testbed", err, "")
	}
	return os.Remove(testbedFile(dir))
}

// removeDir removes a directory that holds nothing but our lock.
func removeDir(dir string) error {
	if err := os.Remove(filepath.Join(dir, lockFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// requireOurs refuses to make a testbed among files of somebody else, which
// its end would remove.
func requireOurs(dir string) error {
	if exists(testbedFile(dir)) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fail(codeFailed, "make testbed", err, "")
	}
	for _, e := range entries {
		if e.Name() != lockFile {
			return fail(codeUsage, "make testbed", fmt.Errorf("%s holds other things, %s among them", dir, e.Name()), "choose a new directory: ol testbed up -p DIR")
		}
	}
	return nil
}
