package sock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock/nat"
)

// root assembles the base root. All its methods run on the spawner's thread,
// in a mount namespace that nobody else sees.
type root struct {
	base    string // BaseHost or a directory
	stage   string // an empty directory of the host to mount it at
	runtime fs.FS
	filters map[string][]byte // seccomp programs by file name, none if off
	ownEtc  bool              // /etc is ours, not the base's
}

// ours are the top-level names that a base does not provide: what sandboxes
// get of their own, and what must not show.
var ours = []string{"dev", "proc", "sys", "run", "tmp", "handler", "host", "packages", "runtime", "lost+found"}

// hostTree are the top-level names of the host that the host base shows.
var hostTree = []string{"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"}

// readOnly are the flags of everything that a base provides.
const readOnly = unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV

// build assembles the root at its stage, writable still.
func (r *root) build() error {
	if err := mount("root", r.stage, "tmpfs", unix.MS_NOSUID, "mode=755,size=32m"); err != nil {
		return err
	}
	steps := []func() error{r.tree, r.etc, r.devices, r.program, r.mountPoints, r.processes}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (r *root) at(name string) string { return filepath.Join(r.stage, name) }

func (r *root) dir() string {
	if r.base == BaseHost {
		return "/"
	}
	return r.base
}

// tree shows the base's directories, and its symbolic links as such.
func (r *root) tree() error {
	names := hostTree
	if r.base != BaseHost {
		entries, err := os.ReadDir(r.base)
		if err != nil {
			return fmt.Errorf("read base: %w", err)
		}
		names = nil
		for _, e := range entries {
			if !slices.Contains(ours, e.Name()) && e.Name() != "etc" {
				names = append(names, e.Name())
			}
		}
	}
	for _, name := range names {
		if err := r.show(name); err != nil {
			return fmt.Errorf("show base: %w", err)
		}
	}
	return nil
}

// show makes one top-level entry of the base visible; absent ones and plain
// files are left out.
func (r *root) show(name string) error {
	source := filepath.Join(r.dir(), name)
	info, err := os.Lstat(source)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		link, err := os.Readlink(source)
		if err != nil {
			return err
		}
		return os.Symlink(link, r.at(name))
	case !info.IsDir():
		return nil
	}
	return r.bindNew(source, name)
}

func (r *root) bindNew(source, name string) error {
	if err := os.MkdirAll(r.at(name), 0o755); err != nil {
		return err
	}
	return bind(source, r.at(name), readOnly)
}

// devices makes a /dev with what programs cannot do without.
func (r *root) devices() error {
	dev := r.at("dev")
	if err := os.Mkdir(dev, 0o755); err != nil {
		return fmt.Errorf("make devices: %w", err)
	}
	if err := mount("dev", dev, "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=755,size=64k"); err != nil {
		return fmt.Errorf("make devices: %w", err)
	}
	nodes := map[string]uint64{
		"null": unix.Mkdev(1, 3), "zero": unix.Mkdev(1, 5), "full": unix.Mkdev(1, 7),
		"random": unix.Mkdev(1, 8), "urandom": unix.Mkdev(1, 9), "tty": unix.Mkdev(5, 0),
	}
	for name, number := range nodes {
		path := filepath.Join(dev, name)
		if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(number)); err != nil {
			return fmt.Errorf("make device %s: %w", name, err)
		}
		if err := os.Chmod(path, 0o666); err != nil {
			return fmt.Errorf("make device: %w", err)
		}
	}
	links := map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dev, name)); err != nil {
			return fmt.Errorf("make device link: %w", err)
		}
	}
	return os.Mkdir(filepath.Join(dev, "shm"), 0o755)
}

// program writes the runtime and the seccomp filters.
func (r *root) program() error {
	if err := os.CopyFS(r.at("runtime"), r.runtime); err != nil {
		return fmt.Errorf("copy runtime: %w", err)
	}
	for name, program := range r.filters {
		if err := os.WriteFile(r.at("runtime/"+name), program, 0o444); err != nil {
			return fmt.Errorf("write seccomp filter: %w", err)
		}
	}
	return r.resolvers()
}

// resolvers writes how each network looks names up. A sandbox binds its own over
// what is in /etc.
func (r *root) resolvers() error {
	for network, texts := range map[string]map[string]string{
		NetworkHost: {"resolv.conf": hostText("resolv.conf"), "hosts": hostText("hosts")},
		NetworkNAT:  {"resolv.conf": nat.Resolver()},
	} {
		dir := r.at(filepath.Join("runtime/net", network))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make resolver: %w", err)
		}
		for name, text := range texts {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o444); err != nil {
				return fmt.Errorf("write resolver: %w", err)
			}
		}
	}
	return nil
}

// hostText is one of the host's files in /etc, "" if it has none.
func hostText(name string) string {
	text, err := os.ReadFile(filepath.Join("/etc", name))
	if err != nil {
		return ""
	}
	return string(text)
}

func (r *root) mountPoints() error {
	for _, name := range []string{"proc", "sys", "run", "tmp", "handler", "host", "packages"} {
		if err := os.Mkdir(r.at(name), 0o755); err != nil {
			return fmt.Errorf("make mount point: %w", err)
		}
	}
	return nil
}

// processes mounts a /proc. The kernel lets a process in a user namespace mount
// one of its own only where one is in sight already (mount_too_revealing);
// sandboxes mount theirs over this one. It hides whoever a zygote, which sees
// it, could not trace: everybody but its own.
func (r *root) processes() error {
	return mount("proc", r.at("proc"), "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "hidepid=invisible")
}

// enter makes the stage the root of this thread's mount namespace and detaches
// the host's tree from it.
func (r *root) enter() error {
	if err := unix.Chdir(r.stage); err != nil {
		return fmt.Errorf("enter base root: %w", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("detach old root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return fmt.Errorf("enter base root: %w", err)
	}
	r.stage = "/"
	return nil
}

// seal makes the root and its /dev read-only for good. It runs after enter.
func (r *root) seal() error {
	if err := mount("", "/dev", "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NOEXEC, ""); err != nil {
		return err
	}
	return mount("", "/", "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "")
}
