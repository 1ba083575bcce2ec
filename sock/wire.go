package sock

import (
	"context"
	"os"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock/rights"
)

// control is our end of a control socket to a child or a zygote.
type control struct {
	conn *rights.Conn
}

// newControl makes a pair: our end, and the end for the child, which the
// caller closes once the child has it.
func newControl() (*control, *os.File, error) {
	conn, theirs, err := rights.Pair()
	if err != nil {
		return nil, nil, err
	}
	return &control{conn}, theirs, nil
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
	NewNet   bool       `json:"new_net,omitempty"`
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
	TmpMB    int64  `json:"tmp_mb"`
	ShmMB    int64  `json:"shm_mb"`
	Network  string `json:"network"`
	Loopback bool   `json:"loopback"` // is down still
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

func (c *control) send(m message, files ...*os.File) error { return c.conn.Send(m, files...) }

// receive reads one message and at most one descriptor, -1 if there is none.
// It gives up when ctx ends.
func (c *control) receive(ctx context.Context) (m message, fd int, err error) {
	fds, err := c.conn.Receive(ctx, &m, 1)
	switch {
	case err != nil:
		return message{}, -1, err
	case len(fds) == 0:
		return m, -1, nil
	}
	for _, surplus := range fds[1:] {
		unix.Close(surplus)
	}
	return m, fds[0], nil
}

func (c *control) close() { c.conn.Close() }
