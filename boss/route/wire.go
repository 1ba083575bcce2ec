package route

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
)

// counted is a connection that knows how much was written to it.
type counted struct {
	net.Conn
	written atomic.Int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	return n, err
}

// trail is what one attempt left of itself.
type trail struct {
	connected, sent bool // it had a connection; a byte of it left
}

// watch is what one attempt by net/http saw of its connection.
type watch struct {
	conn  *counted // nil: none
	start int64    // bytes written before
}

func (a *watch) got(info httptrace.GotConnInfo) {
	conn := info.Conn
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	if c, ok := conn.(*counted); ok {
		a.conn, a.start = c, c.written.Load()
	}
}

func (a *watch) trail() trail {
	return trail{a.conn != nil, a.conn != nil && a.conn.written.Load() > a.start}
}

// buffers is an httputil.BufferPool.
type buffers struct{ pool sync.Pool }

func newBuffers() *buffers {
	return &buffers{pool: sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}}
}

func (b *buffers) Get() []byte  { return *b.pool.Get().(*[]byte) }
func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
