package sock

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

// maxMessage bounds what a child may make us allocate, bytes.
const maxMessage = 1 << 20

// control is our end of a control socket: JSON messages behind a four-byte
// length, with file descriptors beside the first byte.
type control struct {
	conn *net.UnixConn
}

// newControl makes a pair: our end, and the end for the child, which the
// caller closes once the child has it.
func newControl() (*control, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make control socket: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control")
	defer ours.Close() // FileConn duplicates it
	conn, err := net.FileConn(ours)
	if err != nil {
		theirs.Close()
		return nil, nil, fmt.Errorf("make control socket: %w", err)
	}
	return &control{conn: conn.(*net.UnixConn)}, theirs, nil
}

// message is every message that travels; Op says which fields count.
type message struct {
	Op       string     `json:"op"`
	Jail     *jailConf  `json:"jail,omitempty"`
	Spec     *childSpec `json:"spec,omitempty"`
	UID      int        `json:"uid,omitempty"`
	Rehearse bool       `json:"rehearse,omitempty"`
	Modules  []string   `json:"modules,omitempty"`
	Args     []string   `json:"args,omitempty"`
	Packages []string   `json:"packages,omitempty"` // what each mount is called
	Network  string     `json:"network,omitempty"`
	Count    int        `json:"count,omitempty"`
	IDs      *idRange   `json:"ids,omitempty"`  // of a user namespace
	Root     bool       `json:"root,omitempty"` // begins as the root of one

	// answers
	Lambda  bool              `json:"lambda,omitempty"`
	Text    string            `json:"text,omitempty"`
	PID     int               `json:"pid,omitempty"`
	Missing []string          `json:"missing,omitempty"`
	Loaded  map[string]string `json:"loaded,omitempty"` // top-level module -> package, "" is the base
	Took    float64           `json:"took,omitempty"`   // seconds that importing took
}

// idRange is the ids that a user namespace has, as numbers in its parent.
type idRange struct {
	First uint32 `json:"first"`
	Count uint32 `json:"count"`
}

type jailConf struct {
	TmpMB   int64  `json:"tmp_mb"`
	ShmMB   int64  `json:"shm_mb"`
	Network string `json:"network"`
}

type childSpec struct {
	Hostname string            `json:"hostname"`
	Packages []string          `json:"packages"` // what each mount after the first is called
	Entry    string            `json:"entry"`
	Handler  string            `json:"handler"`
	Env      map[string]string `json:"env"`
	Slots    int               `json:"slots"`
	MaxBody  int64             `json:"max_body"`
	About    about             `json:"about"`
}

// about is what a handler can read in its context.
type about struct {
	Function  string `json:"function"`
	MemMB     int64  `json:"mem_mb"`
	RuntimeMS int64  `json:"runtime_ms"`
}

func (c *control) send(m message, files ...*os.File) error {
	body, err := json.Marshal(m)
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
	n, _, err := c.conn.WriteMsgUnix(data, rights, nil)
	if err == nil && n < len(data) {
		_, err = c.conn.Write(data[n:])
	}
	if err != nil {
		return fmt.Errorf("send control message: %w", err)
	}
	return nil
}

// receive reads one message and at most one descriptor, -1 if there is none.
// It gives up when ctx ends.
func (c *control) receive(ctx context.Context) (message, int, error) {
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	m, fd, err := c.read()
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return message{}, -1, fmt.Errorf("receive control message: %w", err)
	}
	return m, fd, nil
}

func (c *control) read() (m message, fd int, err error) {
	var head [4]byte
	rights := make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := c.conn.ReadMsgUnix(head[:], rights)
	if err != nil {
		return m, -1, err
	}
	if n == 0 {
		return m, -1, io.EOF
	}
	fd = parseRight(rights[:oobn])
	defer func() {
		if err != nil && fd >= 0 {
			unix.Close(fd)
		}
	}()
	if _, err = io.ReadFull(c.conn, head[n:]); err != nil {
		return m, fd, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxMessage {
		return m, fd, fmt.Errorf("message of %d bytes is too long", size)
	}
	body := make([]byte, size)
	if _, err = io.ReadFull(c.conn, body); err != nil {
		return m, fd, err
	}
	return m, fd, json.Unmarshal(body, &m)
}

func parseRight(oob []byte) int {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(messages) == 0 {
		return -1
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return -1
	}
	return fds[0]
}

func (c *control) close() { _ = c.conn.Close() }
