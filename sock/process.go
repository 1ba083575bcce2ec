package sock

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// process is a child of ours, known by pidfd. It is reaped by a goroutine of
// its own, which ends with it.
type process struct {
	pid  int
	file *os.File      // the pidfd
	done chan struct{} // closed once reaped

	code, status int32 // si_code and si_status; valid once done is closed
}

// newProcess takes over a pidfd and starts waiting for the process. wg covers
// the goroutine.
func newProcess(pid, pidfd int, wg *sync.WaitGroup) (*process, error) {
	if err := unix.SetNonblock(pidfd, true); err != nil { // lets the runtime's poller watch it
		unix.Close(pidfd)
		return nil, fmt.Errorf("watch process: %w", err)
	}
	p := &process{pid: pid, file: os.NewFile(uintptr(pidfd), "pidfd"), done: make(chan struct{})}
	raw, err := p.file.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("watch process: %w", err)
	}
	wg.Go(func() {
		defer close(p.done)
		_ = raw.Read(func(fd uintptr) bool { return p.reap(int(fd)) })
		p.file.Close()
	})
	return p, nil
}

// reap collects the exit status if there is one. It says true when there is
// nothing to wait for any more.
func (p *process) reap(fd int) bool {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PIDFD, fd, &info, unix.WEXITED|unix.WNOHANG, nil)
		switch err {
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return false
		case nil:
		default:
			return true
		}
		child := (*siginfoChild)(unsafe.Pointer(&info))
		if child.pid == 0 {
			return false
		}
		p.code, p.status = child.code, child.status
		return true
	}
}

// siginfoChild is the kernel's siginfo_t as waitid fills it on 64-bit Linux.
type siginfoChild struct {
	signo, errno, code int32
	_                  int32
	pid                int32
	uid                uint32
	status             int32
}

// exit says how the process ended. Call it after done is closed.
func (p *process) exit() Exit { return Exit{Signalled: p.code != exited, Status: int(p.status)} }

func (p *process) exitText() string { return p.exit().String() }

// exited is the si_code of a process that has ended by exit (CLD_EXITED).
const exited = 1

// kill ends the process, and with it everything in its pid namespace.
func (p *process) kill() {
	raw, err := p.file.SyscallConn()
	if err != nil {
		return // closed: it is reaped already
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.PidfdSendSignal(int(fd), unix.SIGKILL, nil, 0) })
}
