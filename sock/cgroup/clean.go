package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Clean kills every process in the instance's groups and removes the groups,
// those of a killed predecessor too. It goes on after a failure and returns
// all of them.
func (d *Driver) Clean(ctx context.Context) error {
	if err := cleanAll(ctx, d.children()); err != nil {
		return fmt.Errorf("clean cgroups: %w", err)
	}
	return nil
}

// CleanGroup does the same for one group, whoever made it. It succeeds when
// there is none.
func (d *Driver) CleanGroup(ctx context.Context, name string) error {
	dirs := d.folders()
	for i, folder := range dirs {
		dirs[i] = filepath.Join(folder, name)
	}
	if err := cleanAll(ctx, dirs); err != nil {
		return fmt.Errorf("clean cgroup: %w", err)
	}
	return nil
}

// cleanAll goes on after a failure. Groups of the v1 freezer are thawed first:
// nothing can be killed in a frozen one, unlike in v2. We have none, but OCI
// containers do.
func cleanAll(ctx context.Context, dirs []string) error {
	var errs []error
	for _, dir := range dirs {
		errs = append(errs, writeOptional(dir, "freezer.state", "THAWED"))
	}
	for _, dir := range dirs {
		errs = append(errs, cleanDir(ctx, dir))
	}
	return errors.Join(errs...)
}

// Close removes the instance's folders. They must be empty.
func (d *Driver) Close() error {
	var errs []error
	for _, dir := range d.folders() {
		if err := unix.Rmdir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, &os.PathError{Op: "rmdir", Path: dir, Err: err})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close cgroups: %w", err)
	}
	return nil
}

// children lists the groups in every folder, v2 ones first: killing is done
// there, and the v1 directories are empty afterwards.
func (d *Driver) children() []string {
	var dirs []string
	for _, folder := range d.folders() {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.IsDir() {
				dirs = append(dirs, filepath.Join(folder, e.Name()))
			}
		}
	}
	return dirs
}

func cleanDir(ctx context.Context, dir string) error {
	return retry(ctx, func() (bool, error) {
		err := unix.Rmdir(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		if ignoreBusy(err) != nil {
			return false, &os.PathError{Op: "rmdir", Path: dir, Err: err}
		}
		if err := killDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		return false, cleanBelow(ctx, dir)
	})
}

// cleanBelow removes groups that a lambda may have nested in its own.
func cleanBelow(ctx context.Context, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := cleanDir(ctx, filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
