package sock

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// socketName is the runtime's socket in a sandbox's scratch directory.
const socketName = "ol.sock"

// backlog of connections that the runtime has not accepted yet.
const backlog = 1024

// place is what a child gets of the host, whatever it becomes: a user id and a
// scratch directory with its socket.
type place struct {
	uid      int
	dir      string
	listener *os.File // for the child; nil once it has it
	scratch  *os.File // mount of dir, for the child; nil once it has it
	socket   *os.File // the socket as a file, not open for anything
}

// newPlace makes a place.
func (p *Provider) newPlace() (_ *place, err error) {
	var u undo
	defer u.run()
	pl := &place{uid: p.uids.get()}
	u.add(func() { p.uids.put(pl.uid) })
	pl.dir = filepath.Join(p.scratch(), strconv.Itoa(pl.uid))
	if err := os.Mkdir(pl.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make scratch directory: %w", err)
	}
	u.add(func() { _ = os.RemoveAll(pl.dir) })
	if err := os.Chown(pl.dir, pl.uid, pl.uid); err != nil {
		return nil, fmt.Errorf("give scratch directory away: %w", err)
	}
	u.add(pl.handedOver)
	if err := pl.listen(); err != nil {
		return nil, err
	}
	u.add(func() { pl.socket.Close() })
	if pl.scratch, err = detachedMount(pl.dir, false); err != nil {
		return nil, err
	}
	u.release()
	return pl, nil
}

// codeMounts returns detached mounts of a lambda's code and packages, in the
// order in which the child expects them.
func codeMounts(spec Spec) (_ files, err error) {
	var mounts files
	for _, dir := range append([]string{spec.Dir}, spec.Packages...) {
		m, err := detachedMount(dir, true)
		if err != nil {
			mounts.close()
			return nil, err
		}
		mounts = append(mounts, m)
	}
	return mounts, nil
}

// files are open for a child.
type files []*os.File

func (fs files) close() {
	for _, f := range fs {
		f.Close()
	}
}

// listen makes the socket, listening already, so that connections made before
// the runtime accepts wait instead of failing. Paths of sockets are short, so
// the directory is named by descriptor.
func (pl *place) listen() error {
	dir, err := os.Open(pl.dir)
	if err != nil {
		return fmt.Errorf("open scratch directory: %w", err)
	}
	defer dir.Close()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("make socket: %w", err)
	}
	pl.listener = os.NewFile(uintptr(fd), socketName)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: procPath(dir) + "/" + socketName}); err != nil {
		return fmt.Errorf("bind socket: %w", err)
	}
	if err := unix.Listen(fd, backlog); err != nil {
		return fmt.Errorf("listen on socket: %w", err)
	}
	return pl.pin(dir)
}

// pin opens the socket as a file. Connecting through it reaches this very
// socket, whatever the lambda, which owns the directory, puts in its place.
func (pl *place) pin(dir *os.File) error {
	fd, err := unix.Openat(int(dir.Fd()), socketName, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open socket: %w", err)
	}
	pl.socket = os.NewFile(uintptr(fd), socketName)
	if err := unix.Fchownat(int(dir.Fd()), socketName, pl.uid, pl.uid, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		pl.socket.Close()
		return fmt.Errorf("give socket away: %w", err)
	}
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

// leave removes the place.
func (p *Provider) leave(pl *place) error {
	pl.handedOver()
	pl.socket.Close()
	err := os.RemoveAll(pl.dir)
	p.uids.put(pl.uid)
	if err != nil {
		return fmt.Errorf("remove scratch directory: %w", err)
	}
	return nil
}

func procPath(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }
