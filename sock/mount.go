package sock

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// detachedMount returns a private copy of the mount under dir that is attached
// nowhere; a process in another mount namespace can hang it in. It disappears
// with its last descriptor. Needs Linux 5.12.
func detachedMount(dir string, readOnly bool) (*os.File, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, dir, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("clone mount: %w", &os.PathError{Op: "open_tree", Path: dir, Err: err})
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV, Propagation: unix.MS_PRIVATE}
	if readOnly {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &attr); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("restrict mount: %w", &os.PathError{Op: "mount_setattr", Path: dir, Err: err})
	}
	return os.NewFile(uintptr(fd), dir), nil
}

func mount(source, target, kind string, flags uintptr, data string) error {
	if err := unix.Mount(source, target, kind, flags, data); err != nil {
		return &os.PathError{Op: "mount", Path: target, Err: err}
	}
	return nil
}

// bind shows source at target, which must exist, with restricting flags.
func bind(source, target string, flags uintptr) error {
	if err := mount(source, target, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	if flags == 0 {
		return nil
	}
	return mount("", target, "", unix.MS_BIND|unix.MS_REMOUNT|flags, "")
}
