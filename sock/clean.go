package sock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/open-lambda/open-lambda/sock/cgroup"
	"github.com/open-lambda/open-lambda/sock/nat"
)

// ErrInUse says that a live process makes sandboxes in the directory.
var ErrInUse = errors.New("in use by a running process")

// Clean removes what a provider that was killed has left: its control groups
// with every process in them, its network links and rules, and its directory. Mounts, and the scratch space and
// sockets on them, need no care: they exist in the namespaces of those processes
// only.
// It fails with ErrInUse, changing nothing, while the owner lives.
func Clean(ctx context.Context, instance, dir string) error {
	lock, err := LockDir(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	return clean(ctx, instance, dir)
}

// clean is Clean for who holds the lock.
func clean(ctx context.Context, instance, dir string) error {
	err := errors.Join(CleanGroups(ctx, instance), nat.Clean(instance))
	if e := os.RemoveAll(filepath.Join(dir, "root")); e != nil {
		err = errors.Join(err, fmt.Errorf("remove sandbox directory: %w", e))
	}
	return err
}

// CleanGroups removes the control groups of an instance, with every process in
// them. The caller holds the lock of the instance.
func CleanGroups(ctx context.Context, instance string) error {
	ctx, cancel := context.WithTimeout(ctx, reapTime)
	defer cancel()
	driver, err := cgroup.Open(instance)
	if err != nil {
		return err
	}
	return errors.Join(driver.Clean(ctx), driver.Close())
}
