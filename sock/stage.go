package sock

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock/ids"
)

// Stage assembles the base root for a mechanism that enters it by itself: at
// dir, an existing directory, in the mount namespace of the whole calling
// process, which must be private: it goes with the namespace. Sandboxes have
// user ids of the block, and no user namespaces. It returns the path of the
// interpreter in the root.
func Stage(cfg Config, dir string, block ids.Block) (python string, err error) {
	r, err := newRoot(cfg, dir)
	if err != nil {
		return "", err
	}
	if err := r.build(); err != nil {
		return "", fmt.Errorf("assemble base root: %w", err)
	}
	if python, err = r.findPython(cfg.Python); err != nil {
		return "", err
	}
	if err := r.compile(python); err != nil {
		return "", err
	}
	return python, errors.Join(r.people(lambdaAccounts(block)), r.strip())
}

// strip takes away what the mechanism mounts anew, so that nothing is hidden
// below that.
func (r *root) strip() error {
	for _, name := range []string{"dev", "proc"} {
		err := unix.Unmount(r.at(name), unix.MNT_DETACH)
		if err != nil && !errors.Is(err, unix.EINVAL) { // it is no mount
			return fmt.Errorf("strip base root: %w", &os.PathError{Op: "unmount", Path: name, Err: err})
		}
	}
	return nil
}

// newRoot prepares the base root with the seccomp filters of cfg.
func newRoot(cfg Config, stage string) (*root, error) {
	r := &root{base: cfg.Base, stage: stage, runtime: cfg.Runtime}
	if !cfg.Seccomp {
		return r, nil
	}
	early, late, err := seccompFilters()
	if err != nil {
		return nil, err
	}
	r.filters = map[string][]byte{"early.bpf": early, "late.bpf": late}
	return r, nil
}

// compile runs the compiler in the root at its stage.
func (r *root) compile(python string) error {
	args, err := compileArgs(r.stage)
	if err != nil {
		return err
	}
	cmd := exec.Command(python, args...)
	cmd.Dir, cmd.Env = "/", Environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: r.stage}
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile runtime: %w: %s", err, text)
	}
	return nil
}

// findPython looks for the interpreter in a root that is at its stage.
func (r *root) findPython(configured string) (string, error) {
	stage, err := os.Open(r.stage)
	if err != nil {
		return "", fmt.Errorf("open base root: %w", err)
	}
	defer stage.Close()
	return findPython(configured, func(path string) (os.FileInfo, error) { return statIn(stage, path) })
}

// statIn follows links as they are seen by who has dir as its root.
func statIn(dir *os.File, path string) (os.FileInfo, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT}
	fd, err := unix.Openat2(int(dir.Fd()), path, &how)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	return f.Stat()
}
