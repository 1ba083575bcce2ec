package oci

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	minimage "github.com/open-lambda/open-lambda/min-image"
	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/sock/ids"
	"github.com/open-lambda/open-lambda/sock/runc"
)

// base is what all containers share.
type base struct {
	open   runc.Open
	root   string // the base root
	state  string // libcontainer's files, a directory for each container
	mounts string // where mounts hang until their container has them
	python string // in the base root
}

// checkNamespace refuses to work where the parent would see our mounts.
func checkNamespace() error {
	ours, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return fmt.Errorf("read own mount namespace: %w", err)
	}
	parents, err := os.Readlink("/proc/" + strconv.Itoa(os.Getppid()) + "/ns/mnt")
	if err != nil {
		return fmt.Errorf("read parent's mount namespace: %w", err)
	}
	if ours == parents {
		return errors.New("the mount namespace is the parent's")
	}
	return nil
}

// openBase assembles the base root, seen by this process and the containers
// only.
func openBase(o runc.Open) (*base, error) {
	if o.Protocol != runc.Protocol {
		return nil, fmt.Errorf("this is protocol %d, not %d: build both programs from one source", runc.Protocol, o.Protocol)
	}
	// What is mounted on the host later shows here too, but not the reverse.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return nil, fmt.Errorf("make mounts private: %w", err)
	}
	b := &base{open: o, root: filepath.Join(o.Dir, "root"), state: filepath.Join(o.Dir, "state"), mounts: filepath.Join(o.Dir, "mounts")}
	for _, dir := range []string{b.root, b.state, b.mounts} {
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return nil, fmt.Errorf("make container directory: %w", err)
		}
	}
	// libcontainer takes a root only under its real name.
	real, err := filepath.EvalSymlinks(b.root)
	if err != nil {
		return nil, fmt.Errorf("find container directory: %w", err)
	}
	b.root = real
	if err := unix.Mount("mounts", b.mounts, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=700,size=1m"); err != nil {
		return nil, fmt.Errorf("make place for mounts: %w", err)
	}
	cfg := sock.DefaultConfig("helper", o.Dir, minimage.Runtime())
	cfg.Base, cfg.Python, cfg.Seccomp = o.Base, o.Python, o.Seccomp
	cfg.Logger = slog.New(slog.DiscardHandler)
	b.python, err = sock.Stage(cfg, b.root, ids.Block{First: o.Users.First, Count: o.Users.Count})
	return b, err
}

// hang attaches a container's mounts to directories of ours, from where
// libcontainer binds them, and returns those. drop takes them off again.
func (b *base) hang(id string, files []*os.File) (dirs []string, drop func(), err error) {
	top := filepath.Join(b.mounts, id)
	drop = func() {
		for _, dir := range dirs {
			_ = unix.Unmount(dir, unix.MNT_DETACH) // the container has its own
		}
		_ = os.RemoveAll(top) // nothing but empty directories of our own tmpfs
	}
	for i, f := range files {
		dir := filepath.Join(top, strconv.Itoa(i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			drop()
			return nil, nil, fmt.Errorf("make place for mount: %w", err)
		}
		if err := unix.MoveMount(int(f.Fd()), "", unix.AT_FDCWD, dir, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			drop()
			return nil, nil, fmt.Errorf("hang in mount: %w", err)
		}
		dirs = append(dirs, dir)
	}
	return dirs, drop, nil
}
