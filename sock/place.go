package sock

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock/ids"
)

// socketName is the runtime's socket in a sandbox's scratch directory.
const socketName = "ol.sock"

// backlog of connections that the runtime has not accepted yet.
const backlog = 1024

// place is what a child gets of the host, whatever it becomes: user ids and a
// scratch file system with its socket.
type place struct {
	ids      ids.Slice
	listener *os.File // for the child; nil once it has it
	scratch  *os.File // the file system, for the child; nil once it has it
	socket   *os.File // the socket as a file, not open for anything
	dir      *os.File // the file system's root, not open for anything
}

// newPlace makes a place. Scratch space is in memory and of the sandbox alone:
// making and removing files on a disk took a tenth of a start, and so one
// sandbox cannot fill up another's. It goes with its last mount and descriptor.
func newPlace(users *Users, tmpMB int64) (_ *place, err error) {
	var u undo
	defer u.run()
	slice, err := users.slices.Get()
	if err != nil {
		return nil, err
	}
	u.add(func() { users.slices.Put(slice) })
	pl := &place{ids: slice}
	if pl.scratch, err = newTmpfs(lambdaID(slice), tmpMB); err != nil {
		return nil, err
	}
	u.add(pl.handedOver)
	if err := pl.listen(); err != nil {
		return nil, err
	}
	u.release()
	return pl, nil
}

// mountAll returns detached mounts of a directory and of packages, in the
// order in which a child expects them. Owners are those that users, a user
// namespace or nil, has under the same numbers.
func mountAll(dir string, packages []Package, users *os.File) (Files, error) {
	first, err := detachedMount(dir, true, users)
	if err != nil {
		return nil, err
	}
	rest, err := packageMounts(packages, users)
	if err != nil {
		first.Close()
		return nil, err
	}
	return append(Files{first}, rest...), nil
}

// CodeMounts are those of a lambda, as the host has them.
func CodeMounts(spec Spec) (Files, error) { return mountAll(spec.Dir, spec.Packages, nil) }

// packageMounts returns detached, read-only mounts of packages.
func packageMounts(packages []Package, users *os.File) (Files, error) {
	var mounts Files
	for _, p := range packages {
		m, err := detachedMount(p.Dir, true, users)
		if err != nil {
			mounts.Close()
			return nil, err
		}
		mounts = append(mounts, m)
	}
	return mounts, nil
}

// Files are open for a child.
type Files []*os.File

// Close closes all of them.
func (fs Files) Close() {
	for _, f := range fs {
		f.Close()
	}
}

// listen makes the socket, listening already, so that connections made before
// the runtime accepts wait instead of failing.
func (pl *place) listen() error {
	fd, err := unix.Openat(int(pl.scratch.Fd()), ".", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open scratch space: %w", err)
	}
	pl.dir = os.NewFile(uintptr(fd), "scratch")
	if pl.listener, err = pl.listenAt(socketName); err == nil {
		err = pl.pin()
	}
	if err != nil {
		pl.dir.Close()
	}
	return err
}

// listenAt makes a socket in the scratch space that the lambda may connect to.
func (pl *place) listenAt(name string) (_ *os.File, err error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make socket: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	uid := lambdaID(pl.ids)
	if err = unix.Bind(fd, &unix.SockaddrUnix{Name: procPath(pl.dir) + "/" + name}); err != nil {
		err = fmt.Errorf("bind socket: %w", err)
	} else if err = unix.Listen(fd, backlog); err != nil {
		err = fmt.Errorf("listen on socket: %w", err)
	} else if err = unix.Fchownat(int(pl.dir.Fd()), name, uid, uid, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		err = fmt.Errorf("give socket away: %w", err)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// pin opens the socket as a file. Connecting through it reaches this very
// socket, whatever the lambda, which owns the directory, puts in its place.
func (pl *place) pin() error {
	fd, err := unix.Openat(int(pl.dir.Fd()), socketName, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open socket: %w", err)
	}
	pl.socket = os.NewFile(uintptr(fd), socketName)
	return nil
}

// handedOver closes what only the child needs. If it kept the listener open,
// connecting would succeed after the child's death.
func (pl *place) handedOver() {
	for _, f := range []*os.File{pl.listener, pl.scratch} {
		if f != nil {
			f.Close()
		}
	}
	pl.listener, pl.scratch = nil, nil
}

// close lets go of the scratch space, which was charged to the child's cgroup.
func (pl *place) close() {
	pl.handedOver()
	pl.socket.Close()
	pl.dir.Close()
}

func procPath(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }
