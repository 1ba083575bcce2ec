package boss

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Listen listens for a boss: on TCP alone, since the sockets of multipath TCP,
// which Go prefers, cannot be held off.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	lc.SetMultipathTCP(false)
	return lc.Listen(ctx, "tcp", addr)
}

// Times of parting: a client that sends at least that often is told; the
// others' connections are idle when they are closed.
const (
	quiet    = 100 * time.Millisecond
	longest  = time.Second
	askAgain = int(longest / quiet)
)

// partWithClients serves on for a moment, and asks clients with every answer to
// make a new connection for their next request; then it lets no new ones be
// made, and takes those that are. So the port is closed under no client that is
// just sending.
func (b *Boss) partWithClients(ctx context.Context) {
	tick := time.NewTicker(quiet)
	defer tick.Stop()
	pause := func() bool {
		select {
		case <-tick.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
	before := int64(-1)
	for range askAgain {
		now := b.metrics.Total()
		if now == before || now == 0 || !pause() {
			break
		}
		before = now
	}
	if err := holdOff(b.cfg.Listener); err != nil {
		b.cfg.Logger.Debug("close port", slog.Any("error", err))
		return
	}
	for pause() {
		if n, err := unaccepted(b.cfg.Listener); n == 0 || err != nil {
			break
		}
	}
	pause() // the last one is being taken
}

// holdOff keeps the kernel from making new connections on a listener, while
// those that are made can be accepted and live on. When a listener is closed,
// connections that the kernel has made and nobody has accepted yet are reset,
// and a client cannot know that its request was not begun; a client that is held
// off asks again a second later, when the port is closed, and is refused.
//
// The listener drops segments that have SYN without ACK (a socket filter sees
// the TCP header first; the flags are its byte 13, RFC 9293 section 3.1).
func holdOff(l net.Listener) error {
	const flagsAt, syn, ack = 13, 0x02, 0x10
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flagsAt},
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: syn | ack},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: syn, Jt: 0, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},
	}
	err := onSocket(l, func(fd int) error {
		return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{
			Len: uint16(len(program)), Filter: &program[0],
		})
	})
	if err != nil {
		return fmt.Errorf("hold off new connections: %w", err)
	}
	return nil
}

// unaccepted counts the connections that the kernel has made and that wait to be
// accepted: of a listener that is what tcp_info calls unacked (tcp_get_info in
// the kernel's net/ipv4/tcp.c).
func unaccepted(l net.Listener) (n int, err error) {
	err = onSocket(l, func(fd int) error {
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil {
			n = int(info.Unacked)
		}
		return err
	})
	return n, err
}

// onSocket does something with a listener's socket.
func onSocket(l net.Listener, do func(fd int) error) error {
	c, ok := l.(syscall.Conn)
	if !ok {
		return fmt.Errorf("a listener of type %T has no socket", l)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = do(int(fd)) })
	return errors.Join(err, failed)
}
