package runc

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/sock/cgroup"
	"github.com/open-lambda/open-lambda/sock/nat"
)

// reapTime bounds the wait for the kernel to be done with killed processes.
const reapTime = 30 * time.Second

// container is one OCI container. It implements sock.Body.
type container struct {
	p     *Provider
	conn  *connection
	id    string
	guest *sock.Guest
	files sock.GuestFiles // for the helper

	handedOver bool          // it has the files
	network    string        // of sock's
	lease      *nat.Lease    // nil if the network takes none
	pid        int           // of its first process; 0 before
	group      *cgroup.Group // made by the helper; nil before
	ended      chan struct{} // closed when the process is gone, or never was

	once sync.Once
	exit sock.Exit // valid once ended is closed
	lost bool      // the helper ended; valid once ended is closed
}

// end notes that the process is gone, once.
func (b *container) end(exit sock.Exit, lost bool) {
	b.once.Do(func() {
		b.exit, b.lost = exit, lost
		close(b.ended)
	})
}

// lose notes that the helper is gone, and the container with it.
func (b *container) lose() { b.end(sock.Exit{Signalled: true, Status: int(unix.SIGKILL)}, true) }

// Kill implements sock.Process.
func (b *container) Kill() {
	if _, err := b.conn.call(Request{Op: OpKill, ID: b.id}); err != nil {
		select {
		case <-b.ended:
		default:
			b.p.log.Error("cannot kill container", "container", b.id, "error", err)
		}
	}
}

// Ended implements sock.Process.
func (b *container) Ended() <-chan struct{} { return b.ended }

// Inspect implements sock.Process.
func (b *container) Inspect() sock.Info {
	info := sock.Info{
		Origin: sock.Fresh,
		Detail: fmt.Sprintf("OCI container %s, pid %d, user id %d, cgroup %s", b.id, b.pid, b.guest.UID(), b.group.Path()),
	}
	select {
	case <-b.ended:
		info.ExitText, info.ExitCode = b.exitText(), b.exit.Code()
	default:
	}
	return info
}

// MemBytes implements sock.Body.
func (b *container) MemBytes() int64 {
	mem, err := b.group.Memory()
	if err != nil {
		return 0
	}
	return mem
}

func (b *container) exitText() string {
	if b.lost {
		return errLost.Error()
	}
	return b.exit.Reason(b.group)
}

// Freeze implements sock.Body.
func (b *container) Freeze(frozen bool) error {
	op := OpResume
	if frozen {
		op = OpPause
	}
	_, err := b.conn.call(Request{Op: op, ID: b.id})
	return err
}

// Remove implements sock.Body.
func (b *container) Remove() {
	if _, err := b.conn.call(Request{Op: OpDelete, ID: b.id}); err != nil && b.conn.alive() {
		b.p.log.Error("cannot delete container", "container", b.id, "error", err)
	}
	b.conn.forget(b.id)
	if b.group != nil {
		b.group.Close()
	}
	// Of a container that the helper could not delete, everything is left.
	ctx, cancel := context.WithTimeout(context.Background(), reapTime)
	defer cancel()
	if err := b.p.sweep(ctx, b.id); err != nil {
		b.p.log.Error("cannot remove container", "container", b.id, "error", err)
	}
	b.p.nets.GiveBack(b.lease)
	if !b.handedOver {
		b.guest.HandedOver(b.files)
	}
	b.guest.Close(b.p.users)
}
