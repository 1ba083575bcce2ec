package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// ErrClosed: the transport was closed.
var ErrClosed = errors.New("transport is closed")

// Transport is an http.RoundTripper to one server.
type Transport struct {
	dial func(context.Context) (net.Conn, error)

	mu     sync.Mutex
	idle   []*conn
	closed bool
}

// New returns a transport that connects by dial when no connection is idle.
func New(dial func(context.Context) (net.Conn, error)) *Transport {
	return &Transport{dial: dial}
}

// Close closes idle connections. Those in use end with their answers.
func (t *Transport) Close() error {
	t.mu.Lock()
	idle := t.idle
	t.idle, t.closed = nil, true
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
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil, ErrClosed
	}
	if n := len(t.idle); n > 0 {
		c := t.idle[n-1]
		t.idle = t.idle[:n-1]
		t.mu.Unlock()
		c.sent.Store(false)
		return c, nil
	}
	t.mu.Unlock()
	nc, err := t.dial(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: nc}
	c.r, c.w = bufio.NewReader(nc), bufio.NewWriter(c)
	return c, nil
}

// put keeps a connection whose answer was read to the end. One that holds
// more than its answer is not in step and is closed.
func (t *Transport) put(c *conn) {
	t.mu.Lock()
	keep := !t.closed && c.r.Buffered() == 0
	if keep {
		t.idle = append(t.idle, c)
	}
	t.mu.Unlock()
	if !keep {
		_ = c.Close() // it served its purpose
	}
}

// RoundTrip sends one request and returns when the answer's header is there.
// The caller closes the answer's body.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	c, err := t.get(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: connect: %w", sandbox.ErrNotSent, err)
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
		err = errors.Join(sandbox.ErrNotSent, err)
	}
	return nil, err
}
