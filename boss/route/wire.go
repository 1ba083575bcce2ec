package route

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"
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

// wire is what one attempt saw of its connection.
type wire struct {
	conn  *counted // nil: none
	start int64    // bytes written before
}

func (a *wire) got(info httptrace.GotConnInfo) {
	conn := info.Conn
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	if c, ok := conn.(*counted); ok {
		a.conn, a.start = c, c.written.Load()
	}
}

// sent tells whether any byte of the request left.
func (a *wire) sent() bool { return a.conn != nil && a.conn.written.Load() > a.start }

// dialLimit is how long a worker may take to accept a connection: much longer
// than a healthy one needs, and short enough for a second try.
const dialLimit = time.Second

func newTransport(t *tls.Config) *http.Transport {
	dialer := &net.Dialer{Timeout: dialLimit, KeepAlive: 5 * time.Second}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &counted{Conn: c}, nil
		},
		TLSClientConfig: t, TLSHandshakeTimeout: 2 * time.Second,
		MaxIdleConnsPerHost: 512, DisableCompression: true,
		// Shorter than the workers' own, who would otherwise close first.
		IdleConnTimeout: time.Minute,
	}
}

// buffers is an httputil.BufferPool.
type buffers struct{ pool sync.Pool }

func newBuffers() *buffers {
	return &buffers{pool: sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}}
}

func (b *buffers) Get() []byte  { return *b.pool.Get().(*[]byte) }
func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
