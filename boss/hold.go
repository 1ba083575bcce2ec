package boss

import (
	"context"
	"fmt"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Listen listens for a boss: on TCP alone, since the sockets of multipath TCP,
// which Go prefers, cannot be held off.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	lc.SetMultipathTCP(false)
	return lc.Listen(ctx, "tcp", addr)
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
	c, ok := l.(syscall.Conn)
	if !ok {
		return fmt.Errorf("hold off new connections: a listener of type %T has no socket", l)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return fmt.Errorf("hold off new connections: %w", err)
	}
	const flagsAt, syn, ack = 13, 0x02, 0x10
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flagsAt},
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: syn | ack},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: syn, Jt: 0, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},
	}
	failed := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{
			Len: uint16(len(program)), Filter: &program[0],
		})
	})
	if failed != nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("hold off new connections: %w", err)
	}
	return nil
}
