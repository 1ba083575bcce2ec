package route

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/pause"
	"github.com/open-lambda/open-lambda/src/wire"
)

// hop is the way to one worker.
type hop struct {
	scheme, host string
	// small takes requests whose body is in memory, which are nearly all: its
	// round trip costs half of what net/http's does (docs/performance.md). What
	// is streamed takes Router.transport.
	small *wire.Transport
}

// hops are the ways to all workers, by URL.
type hops struct {
	tls *tls.Config

	mu sync.RWMutex
	by map[string]*hop
}

// fewHops is how many ways are kept without asking whether they are used.
const fewHops = 64

// to finds or makes the way to a worker.
func (h *hops) to(address string) (*hop, error) {
	h.mu.RLock()
	found := h.by[address]
	h.mu.RUnlock()
	if found != nil {
		return found, nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("understand address %q: %w", address, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if found := h.by[address]; found != nil {
		return found, nil
	}
	h.forget()
	made := &hop{scheme: u.Scheme, host: u.Host}
	made.small = wire.NewKeeping(h.dialer(u), wire.Keep{Time: idleLimit, Most: maxIdle, Check: true})
	h.by[address] = made
	return made, nil
}

// forget drops ways without a connection once there are twice as many as were
// kept last time, so that workers that come and go leave nothing. mu is held.
func (h *hops) forget() {
	if n := len(h.by); n < fewHops || n&(n-1) != 0 {
		return
	}
	for address, hop := range h.by {
		if hop.small.Unused() {
			_ = hop.small.Close() // it has nothing to close
			delete(h.by, address)
		}
	}
}

// dialer connects to a worker, with TLS if its URL says so.
func (h *hops) dialer(u *url.URL) func(context.Context) (net.Conn, error) {
	host, plain := u.Host, newDialer()
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), u.Scheme)
	}
	if u.Scheme != "https" {
		return func(ctx context.Context) (net.Conn, error) { return dial(ctx, plain, "tcp", host) }
	}
	cfg := &tls.Config{}
	if h.tls != nil {
		cfg = h.tls.Clone()
	}
	cfg.NextProtos = nil // HTTP/1.1
	if cfg.ServerName == "" {
		cfg.ServerName = u.Hostname()
	}
	return func(ctx context.Context) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialLimit+handshakeLimit)
		defer cancel()
		return (&tls.Dialer{NetDialer: plain, Config: cfg}).DialContext(ctx, "tcp", host)
	}
}

func (h *hops) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, hop := range h.by {
		_ = hop.small.Close() // connections that nobody uses
	}
}

// dialLimit is how long a worker may take to accept a connection: much longer
// than a healthy one needs, and short enough for a second try.
const (
	dialLimit      = time.Second
	handshakeLimit = 2 * time.Second
	// idleLimit is shorter than the workers' own, who would otherwise close first.
	idleLimit = time.Minute
	maxIdle   = 512 // connections to one worker
)

func newDialer() *net.Dialer { return &net.Dialer{Timeout: dialLimit, KeepAlive: 5 * time.Second} }

// maxDials bounds how often a connection to a worker is tried while this machine
// is too busy to see whether one was made.
const maxDials = 5

// dial connects to a worker, again if it was us who were slow.
func dial(ctx context.Context, d *net.Dialer, network, addr string) (net.Conn, error) {
	for n := 1; ; n++ {
		due := time.Now().Add(d.Timeout)
		c, err := d.DialContext(ctx, network, addr)
		if err == nil || n == maxDials || ctx.Err() != nil || !pause.Late(due) {
			return c, err
		}
	}
}

func newTransport(t *tls.Config) *http.Transport {
	dialer := newDialer()
	return &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dial(ctx, dialer, network, addr)
			if err != nil {
				return nil, err
			}
			return &counted{Conn: c}, nil
		},
		TLSClientConfig: t, TLSHandshakeTimeout: handshakeLimit,
		MaxIdleConnsPerHost: maxIdle, DisableCompression: true, IdleConnTimeout: idleLimit,
	}
}
