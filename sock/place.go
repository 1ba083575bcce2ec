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

// place is what a sandbox gets of the host: a user id, a scratch directory
// with its socket, and mounts of its directories.
type place struct {
	uid      int
	dir      string
	listener *os.File   // for the child; nil once it has it
	mounts   []*os.File // for the child: code, scratch, packages; nil once it has them
	socket   *os.File   // the socket as a file, not open for anything
}

// prepare makes a place.
func (p *Provider) prepare(spec Spec) (_ *place, err error) {
	var u undo
	defer u.run()
	pl := &place{uid: p.uids.get(), dir: filepath.Join(p.scratch(), spec.ID)}
	u.add(func() { p.uids.put(pl.uid) })
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
	if err := pl.mount(spec); err != nil {
		return nil, err
	}
	u.release()
	return pl, nil
}

func (pl *place) mount(spec Spec) error {
	dirs := append([]string{spec.Dir, pl.dir}, spec.Packages...)
	for i, dir := range dirs {
		m, err := detachedMount(dir, i != 1)
		if err != nil {
			return err
		}
		pl.mounts = append(pl.mounts, m)
	}
	return nil
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

// files are what the child gets, in the order in which it expects them.
func (pl *place) files() []*os.File { return append([]*os.File{pl.listener}, pl.mounts...) }

// handedOver closes what only the child needs. If it kept the listener open,
// connecting would succeed after the child's death.
func (pl *place) handedOver() {
	if pl.listener != nil {
		pl.listener.Close()
	}
	for _, m := range pl.mounts {
		m.Close()
	}
	pl.listener, pl.mounts = nil, nil
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
