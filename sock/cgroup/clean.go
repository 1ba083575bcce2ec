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
	var errs []error
	for _, dir := range d.children() {
		if err := cleanDir(ctx, dir); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("clean cgroups: %w", err)
	}
	return nil
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
