package emulate

import (
	"context"
	"net"
	"sync"
)

// gate holds up everything that passes it while it is shut: to the other side
// the process is stopped, or the network cut.
type gate struct {
	mu   sync.Mutex
	open chan struct{} // closed: everything passes
	shut bool
}

func newGate() *gate {
	g := &gate{open: make(chan struct{})}
	close(g.open)
	return g
}

func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case shut && !g.shut:
		g.open = make(chan struct{})
	case !shut && g.shut:
		close(g.open)
	}
	g.shut = shut
}

func (g *gate) pass() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open
}

// dial connects once the gate is open.
func (g *gate) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	select {
	case <-g.pass():
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return g.guard(c), nil
}

func (g *gate) guard(c net.Conn) *guarded {
	return &guarded{Conn: c, gate: g, closed: make(chan struct{})}
}

// guarded is a connection through a gate.
type guarded struct {
	net.Conn
	gate   *gate
	once   sync.Once
	closed chan struct{}
}

func (c *guarded) await() {
	select {
	case <-c.gate.pass():
	case <-c.closed:
	}
}

// Read holds back what came while the gate was shut.
func (c *guarded) Read(p []byte) (int, error) {
	c.await()
	n, err := c.Conn.Read(p)
	c.await()
	return n, err
}

// Write waits for the gate.
func (c *guarded) Write(p []byte) (int, error) {
	c.await()
	return c.Conn.Write(p)
}

// Close ends what waits.
func (c *guarded) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// listener guards what it accepts.
type listener struct {
	net.Listener
	gate *gate

	mu    sync.Mutex
	conns map[*guarded]struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	g := l.gate.guard(c)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[g] = struct{}{}
	return &tracked{g, l}, nil
}

// reset ends every connection as the kernel does for a killed process.
func (l *listener) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if t, ok := c.Conn.(*net.TCPConn); ok {
			_ = t.SetLinger(0) // closed meanwhile: just as well
		}
		_ = c.Close()
	}
}

// tracked leaves the listener's list when it is closed.
type tracked struct {
	*guarded
	from *listener
}

func (t *tracked) Close() error {
	t.from.mu.Lock()
	delete(t.from.conns, t.guarded)
	t.from.mu.Unlock()
	return t.guarded.Close()
}
