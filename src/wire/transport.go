package wire

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ErrClosed: the transport was closed.
var ErrClosed = errors.New("transport is closed")

// ErrNotSent is wrapped by an error when no byte of the request was accepted
// by the kernel, so that it may be sent to somebody else.
var ErrNotSent = errors.New("request not sent")

// ConnectError is a connection that could not be made. It wraps ErrNotSent
// besides its cause.
type ConnectError struct{ Err error }

// Error says what happened.
func (e *ConnectError) Error() string { return ErrNotSent.Error() + ": connect: " + e.Err.Error() }

// Unwrap returns ErrNotSent and the cause.
func (e *ConnectError) Unwrap() []error { return []error{ErrNotSent, e.Err} }

// Transport is an http.RoundTripper to one server.
type Transport struct {
	dial func(context.Context) (net.Conn, error)
	keep Keep

	mu     sync.Mutex
	idle   []*conn // the one that was used last is at the end
	inUse  int
	closed bool
	sweep  *time.Timer // closes connections that were idle for too long; nil: none is armed
}

// Keep says how idle connections are kept.
type Keep struct {
	// Time is how long; 0 is as long as the transport. The server should keep
	// them longer.
	Time time.Duration
	Most int // how many; 0 is no limit
	// Check looks, before a connection is used again, whether the server has
	// closed it meanwhile: for servers that end, or close connections, while
	// nobody watches. It costs a system call for each request.
	Check bool
}

// New returns a transport that connects by dial when no connection is idle,
// and keeps every connection.
func New(dial func(context.Context) (net.Conn, error)) *Transport {
	return NewKeeping(dial, Keep{})
}

// NewKeeping is New with limits.
func NewKeeping(dial func(context.Context) (net.Conn, error), k Keep) *Transport {
	return &Transport{dial: dial, keep: k}
}

// Close closes idle connections. Those in use end with their answers.
func (t *Transport) Close() error {
	t.mu.Lock()
	idle := t.idle
	t.idle, t.closed = nil, true
	if t.sweep != nil {
		t.sweep.Stop()
	}
	t.mu.Unlock()
	var errs []error
	for _, c := range idle {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// conn is one connection.
type conn struct {
	net.Conn
	r    *bufio.Reader
	w    *bufio.Writer
	sent atomic.Bool // the kernel took a byte of the request in progress

	inHead bool // an answer's header is being read
	head   int  // bytes that it may still have

	since time.Time // when it came idle; guarded by Transport.mu
}

// Read takes no more of an answer's header than it may have.
func (c *conn) Read(p []byte) (int, error) {
	if c.inHead && c.head <= 0 {
		return 0, errLongHeader
	}
	n, err := c.Conn.Read(p)
	c.head -= n
	return n, err
}

// Write notes that something was sent.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if n > 0 {
		c.sent.Store(true)
	}
	return n, err
}

func (t *Transport) get(ctx context.Context) (*conn, error) {
	for {
		c, err := t.take()
		switch {
		case err != nil:
			return nil, err
		case c == nil:
			return t.connect(ctx)
		case !t.keep.Check || c.open():
			c.sent.Store(false)
			return c, nil
		}
		t.release()
		_ = c.Close() // the server has closed it
	}
}

// take takes an idle connection, nil if there is none, and counts it.
func (t *Transport) take() (*conn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, ErrClosed
	}
	t.inUse++
	n := len(t.idle)
	if n == 0 {
		return nil, nil
	}
	c := t.idle[n-1]
	t.idle = t.idle[:n-1]
	return c, nil
}

// release counts a connection that is in use no more.
func (t *Transport) release() {
	t.mu.Lock()
	t.inUse--
	t.mu.Unlock()
}

func (t *Transport) connect(ctx context.Context) (*conn, error) {
	nc, err := t.dial(ctx)
	if err != nil {
		t.release()
		return nil, &ConnectError{err}
	}
	c := &conn{Conn: nc}
	c.r, c.w = bufio.NewReader(c), bufio.NewWriter(c)
	return c, nil
}

// put keeps a connection whose answer was read to the end. One that holds
// more than its answer is not in step and is closed.
func (t *Transport) put(c *conn) {
	t.mu.Lock()
	t.inUse--
	keep := !t.closed && c.r.Buffered() == 0 && (t.keep.Most == 0 || len(t.idle) < t.keep.Most)
	if keep {
		t.idle = append(t.idle, c)
		t.arm(c)
	}
	t.mu.Unlock()
	if !keep {
		_ = c.Close() // it served its purpose
	}
}

// arm sees to it that a connection does not stay idle for too long. mu is held.
func (t *Transport) arm(c *conn) {
	if t.keep.Time == 0 {
		return
	}
	c.since = time.Now()
	if t.sweep == nil {
		t.sweep = time.AfterFunc(t.keep.Time, t.clean)
	}
}

// clean closes the connections that were idle for too long.
func (t *Transport) clean() {
	t.mu.Lock()
	now := time.Now()
	n := 0
	for n < len(t.idle) && now.Sub(t.idle[n].since) >= t.keep.Time {
		n++
	}
	old := slices.Clone(t.idle[:n])
	t.idle = slices.Delete(t.idle, 0, n)
	t.sweep = nil
	if len(t.idle) > 0 && !t.closed {
		t.sweep = time.AfterFunc(t.keep.Time-now.Sub(t.idle[0].since), t.clean)
	}
	t.mu.Unlock()
	for _, c := range old {
		_ = c.Close() // nobody uses it
	}
}

// Unused tells whether the transport has no connection, idle or in use.
func (t *Transport) Unused() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.inUse == 0 && len(t.idle) == 0
}

// RoundTrip sends one request and returns when the answer's header is there.
// The caller closes the answer's body.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	c, err := t.get(ctx)
	if err != nil {
		if errors.Is(err, ErrClosed) {
			err = errors.Join(ErrNotSent, err)
		}
		return nil, err
	}
	x := &exchange{t: t, c: c, ctx: ctx}
	x.stop = context.AfterFunc(ctx, func() { _ = c.Close() }) // wakes whoever reads or writes
	resp, err := x.run(req)
	if err == nil {
		return resp, nil
	}
	x.abort()
	if cause := context.Cause(ctx); cause != nil {
		err = errors.Join(cause, err)
	}
	if !c.sent.Load() {
		err = errors.Join(ErrNotSent, err)
	}
	return nil, err
}
