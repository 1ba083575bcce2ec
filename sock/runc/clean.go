package runc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/sock/nat"
)

// Clean removes what a provider that was killed has left: its control groups
// with every process in them, and its files. Mounts need no care: they exist
// in the namespaces of those processes only. It fails with sock.ErrInUse,
// changing nothing, while the owner lives.
func Clean(ctx context.Context, instance, dir string) error {
	return errors.Join(sock.Clean(ctx, instance, dir), removeState(dir))
}

// clean is Clean for who holds the lock.
func clean(ctx context.Context, instance, dir string) error {
	return errors.Join(sock.CleanGroups(ctx, instance), nat.Clean(instance), removeState(dir))
}

func removeState(dir string) error {
	if err := os.RemoveAll(stateDir(dir)); err != nil {
		return fmt.Errorf("remove container state: %w", err)
	}
	return nil
}

// sweep removes the control groups and files of one container, if there are
// any.
func (p *Provider) sweep(ctx context.Context, id string) error {
	err := p.driver.CleanGroup(ctx, id)
	for _, sub := range []string{"state", "mounts"} {
		if e := os.RemoveAll(filepath.Join(stateDir(p.cfg.Dir), sub, id)); e != nil {
			err = errors.Join(err, fmt.Errorf("remove container state: %w", e))
		}
	}
	return err
}
