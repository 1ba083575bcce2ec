package sock

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"sync/atomic"
)

// newTransport talks to the runtime behind a socket and keeps as many idle
// connections as there are slots.
func newTransport(socket *os.File, slots int) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			conn, err := d.DialContext(ctx, "unix", procPath(socket))
			if err != nil {
				return nil, fmt.Errorf("connect to sandbox: %w", err)
			}
			return &countedConn{Conn: conn}, nil
		},
		DisableCompression:  true,
		MaxIdleConnsPerHost: slots,
	}
}

// countedConn knows how many bytes the kernel has taken for the other side.
type countedConn struct {
	net.Conn
	sent atomic.Int64
}

func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// attempt follows one request onto its connection.
type attempt struct {
	conn   atomic.Pointer[countedConn]
	before atomic.Int64
}

func (a *attempt) gotConn(info httptrace.GotConnInfo) {
	if conn, ok := info.Conn.(*countedConn); ok {
		a.before.Store(conn.sent.Load())
		a.conn.Store(conn)
	}
}

// sent reports whether any byte of the request may have arrived.
func (a *attempt) sent() bool {
	conn := a.conn.Load()
	return conn != nil && conn.sent.Load() != a.before.Load()
}

// RoundTrip sends one request to the runtime and returns its answer as it is:
// redirects are not followed, bodies are not decoded. Scheme and host of the
// URL are ignored; the Host header is kept. ErrNotSent is in the error's chain
// when the lambda cannot have seen anything of the request. A request is never
// sent twice.
func (s *Sandbox) RoundTrip(req *http.Request) (*http.Response, error) {
	a := &attempt{}
	trace := &httptrace.ClientTrace{GotConn: a.gotConn}
	inside := req.WithContext(httptrace.WithClientTrace(req.Context(), trace))
	target := *req.URL
	target.Scheme, target.Host = "http", "sandbox"
	inside.URL = &target
	if inside.Host == "" {
		inside.Host = req.URL.Host
	}
	once(inside)
	resp, err := s.transport.RoundTrip(inside)
	if err != nil && !a.sent() {
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	return resp, err
}

// once keeps net/http from sending a request again by itself when a kept-alive
// connection breaks: the handler may have run. It does so with requests that
// it takes for idempotent and whose body it can have again.
func once(req *http.Request) {
	req.GetBody = nil
	if (req.Body == nil || req.Body == http.NoBody) && seemsIdempotent(req) {
		req.Body = emptyBody{}
	}
}

func seemsIdempotent(req *http.Request) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return req.Header.Get("Idempotency-Key") != "" || req.Header.Get("X-Idempotency-Key") != ""
}

// emptyBody is a body that net/http does not know to be empty.
type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }

// Close does nothing.
func (emptyBody) Close() error { return nil }
