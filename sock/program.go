package sock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// programTime bounds the start of a lambda that is a program and whose
// requests have no limit.
const programTime = 30 * time.Second

// How often a socket is tried that a program has still to make: at first, and
// at last.
const (
	tryFirst = 500 * time.Microsecond
	tryLast  = 20 * time.Millisecond
)

// awaitProgram returns when the program that a child has become accepts
// connections. dir is where it makes its socket. The control socket ends when
// the program runs, for it does not inherit it.
func (g *Guest) awaitProgram(ctx context.Context, spec Spec, proc Process, dir *os.File) error {
	defer dir.Close()
	answer, err := g.answer(ctx)
	switch {
	case err == nil:
		return g.refusal(ctx, proc, answer)
	case ctx.Err() != nil:
		return g.gaveUp(ctx)
	}
	limit := spec.Runtime
	if limit <= 0 {
		limit = programTime
	}
	late := time.NewTimer(limit)
	defer late.Stop()
	for pause := tryFirst; ; pause = min(2*pause, tryLast) {
		if g.place.adopt(dir) {
			return nil
		}
		next := time.NewTimer(pause)
		select {
		case <-next.C:
			continue
		case <-proc.Ended():
			next.Stop()
			return g.deathError(ctx, proc)
		case <-ctx.Done():
			next.Stop()
			return g.gaveUp(ctx)
		case <-late.C:
			next.Stop()
			return g.neverListened(ctx, spec, proc, limit)
		}
	}
}

func (g *Guest) neverListened(ctx context.Context, spec Spec, proc Process, limit time.Duration) error {
	if err := g.end(ctx, proc); err != nil {
		return err
	}
	return &StartError{
		Lambda: true, Output: g.output.last(),
		Reason: fmt.Sprintf("%s does not listen on the unix socket that OL_SOCKET names, %v after it was started", spec.Entry, limit),
	}
}

// adopt takes over the socket that a program has made in dir, if somebody
// listens on it. It is opened as a file before anything is sent to it, and must
// be a socket itself: a link would have us talk to whatever it leads to.
func (pl *place) adopt(dir *os.File) bool {
	fd, err := unix.Openat(int(dir.Fd()), socketName, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	made := os.NewFile(uintptr(fd), socketName)
	info, err := made.Stat()
	if err == nil && info.Mode().Type() != fs.ModeSocket {
		err = errors.New("it is no socket")
	}
	var conn net.Conn
	if err == nil {
		conn, err = net.Dial("unix", procPath(made))
	}
	if err != nil {
		made.Close()
		return false
	}
	conn.Close()
	pl.socket.Close()
	pl.socket = made
	return true
}
