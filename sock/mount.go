package sock

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// detachedMount returns a private copy of the mount under dir that is attached
// nowhere; a process in another mount namespace can hang it in. It disappears
// with its last descriptor. Owners are shown as those that users, a user
// namespace, has under the same numbers, where the file system can do that
// (mount_setattr(2), ID-mapped mounts), and else as they are. Needs Linux 5.12.
func detachedMount(dir string, readOnly bool, users *os.File) (*os.File, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, dir, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("clone mount: %w", &os.PathError{Op: "open_tree", Path: dir, Err: err})
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV, Propagation: unix.MS_PRIVATE}
	if readOnly {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	err = unix.ENOTSUP
	if users != nil {
		mapped := attr
		mapped.Attr_set |= unix.MOUNT_ATTR_IDMAP
		mapped.Userns_fd = uint64(users.Fd())
		err = unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &mapped)
	}
	if err != nil {
		err = unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &attr)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("restrict mount: %w", &os.PathError{Op: "mount_setattr", Path: dir, Err: err})
	}
	return os.NewFile(uintptr(fd), dir), nil
}

// newTmpfs returns a file system of at most sizeMB MiB that is attached nowhere
// and belongs to a user. It disappears with its last mount and descriptor.
func newTmpfs(uid int, sizeMB int64) (*os.File, error) {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make scratch space: open tmpfs: %w", err)
	}
	defer unix.Close(fs)
	id := strconv.Itoa(uid)
	options := [][2]string{{"mode", "700"}, {"uid", id}, {"gid", id}, {"size", strconv.FormatInt(sizeMB, 10) + "m"}}
	for _, o := range options {
		if err := unix.FsconfigSetString(fs, o[0], o[1]); err != nil {
			return nil, fmt.Errorf("make scratch space: set %s: %w", o[0], err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return nil, fmt.Errorf("make scratch space: %w", err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	if err != nil {
		return nil, fmt.Errorf("make scratch space: mount: %w", err)
	}
	return os.NewFile(uintptr(fd), "scratch"), nil
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
