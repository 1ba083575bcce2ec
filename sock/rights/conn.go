package rights

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// maxMessage bounds what a peer may make us allocate, bytes.
const maxMessage = 1 << 20

// Conn is one end of a socket.
type Conn struct {
	unix *net.UnixConn
}

// Pair makes a socket: our end, and the end for another process, which the
// caller closes once that process has it.
func Pair() (*Conn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make control socket: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control")
	c, err := Take(ours)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return c, theirs, nil
}

// Take makes a Conn of an open socket, such as one that was inherited. The
// file is closed.
func Take(f *os.File) (*Conn, error) {
	defer f.Close() // FileConn duplicates it
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("take control socket: %w", err)
	}
	u, ok := conn.(*net.UnixConn)
	if !ok {
		conn.Close()
		return nil, fmt.Errorf("take control socket: it is of kind %s", conn.LocalAddr().Network())
	}
	return &Conn{u}, nil
}

// Send sends v as JSON, and files, which stay open here.
func (c *Conn) Send(v any, files ...*os.File) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode control message: %w", err)
	}
	data := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		rights = unix.UnixRights(fds...)
	}
	n, _, err := c.unix.WriteMsgUnix(data, rights, nil)
	if err == nil && n < len(data) {
		_, err = c.unix.Write(data[n:])
	}
	if err != nil {
		return fmt.Errorf("send control message: %w", err)
	}
	return nil
}

// Receive reads one message into v and at most as many open files as asked
// for, which are the caller's. It gives up when ctx ends.
func (c *Conn) Receive(ctx context.Context, v any, files int) (fds []int, err error) {
	stop := context.AfterFunc(ctx, func() { _ = c.unix.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if fds, err = c.read(v, files); err == nil {
		return fds, nil
	}
	closeAll(fds)
	if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil {
		err = ctx.Err()
	}
	return nil, fmt.Errorf("receive control message: %w", err)
}

func (c *Conn) read(v any, files int) (fds []int, err error) {
	var head [4]byte
	rights := make([]byte, unix.CmsgSpace(4*files))
	n, oobn, _, _, err := c.unix.ReadMsgUnix(head[:], rights)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, io.EOF
	}
	if fds, err = parse(rights[:oobn]); err != nil {
		return fds, err
	}
	if _, err = io.ReadFull(c.unix, head[n:]); err != nil {
		return fds, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxMessage {
		return fds, fmt.Errorf("message of %d bytes is too long", size)
	}
	body := make([]byte, size)
	if _, err = io.ReadFull(c.unix, body); err != nil {
		return fds, err
	}
	return fds, json.Unmarshal(body, v)
}

func parse(oob []byte) (fds []int, err error) {
	if len(oob) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		got, err := unix.ParseUnixRights(&m)
		if err != nil {
			return fds, err
		}
		fds = append(fds, got...)
	}
	return fds, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}

// Close ends the connection; the peer reads an end.
func (c *Conn) Close() { _ = c.unix.Close() }
