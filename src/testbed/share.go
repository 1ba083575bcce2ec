package testbed

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// share makes the directory of named namespaces a mount of its own that passes
// mounts on to the mount namespaces made from this one (mount_namespaces(7)).
// Whoever adds a namespace by iproute2 does so if nobody has: on top of
// namespaces that are mounted already, which could not be removed any more then.
// A lock on the directory, which iproute2 takes too, keeps others from doing the
// same at the same time.
func share(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	defer d.Close()
	if err := unix.Flock(int(d.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", dir, err)
	}
	err = makeShared(dir)
	if errors.Is(err, unix.EINVAL) { // it is no mount
		if err := unix.Mount(dir, dir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("mount %s on itself: %w", dir, err)
		}
		err = makeShared(dir)
	}
	if err != nil {
		return fmt.Errorf("share %s: %w", dir, err)
	}
	return nil
}

func makeShared(dir string) error { return unix.Mount("", dir, "", unix.MS_SHARED|unix.MS_REC, "") }
