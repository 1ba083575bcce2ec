package testbed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Relay passes TCP connections on and holds up what is sent, in each direction,
// for a fixed time, as a long wire does: what is sent in between overtakes
// nothing and is not held up any longer. A connection is taken before the other
// side is reached; if that fails it is reset.
type Relay struct {
	Target string        // host:port
	Delay  time.Duration // of each direction
	// Dial reaches the target; nil: the system's.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Serve relays connections that come to l until ctx ends, which closes l and
// cuts every connection.
func (r *Relay) Serve(ctx context.Context, l net.Listener) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wg.Go(func() {
		<-ctx.Done()
		_ = l.Close() // closed already if accepting has failed
	})
	for {
		c, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("relay to %s: %w", r.Target, err)
		}
		wg.Go(func() { r.connect(ctx, c) })
	}
}

// dialLimit is how long the target may take.
const dialLimit = 10 * time.Second

func (r *Relay) connect(ctx context.Context, in net.Conn) {
	dial := r.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialLimit}).DialContext
	}
	out, err := dial(ctx, "tcp", r.Target)
	if err != nil {
		reset(in)
		return
	}
	r.join(ctx, in, out)
}

// join carries both directions until both have ended or ctx has.
func (r *Relay) join(ctx context.Context, a, b net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { reset(a); reset(b) })
	var wg sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		wg.Go(func() {
			if err := r.carry(ctx, way[0], way[1]); err != nil {
				cancel() // a connection that broke is broken for both
			}
		})
	}
	wg.Wait()
	if stop() {
		_, _ = a.Close(), b.Close() // both have said all
	}
	cancel()
}

// piece is what was read at once, and when it arrives.
type piece struct {
	bytes []byte // nil: the end
	due   time.Time
}

// Bounds of what is on the way in one direction: 4 MB.
const (
	pieceSize = 16 << 10
	pieces    = 256
)

// carry passes on what from sends, and its end, each after the delay.
func (r *Relay) carry(ctx context.Context, from, to net.Conn) error {
	wire := make(chan piece, pieces)
	var failed error
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(wire)
		failed = r.read(ctx, from, wire)
	})
	err := deliver(ctx, wire, to)
	for range wire { // the reader must not wait for us
	}
	wg.Wait()
	return errors.Join(err, failed)
}

func (r *Relay) read(ctx context.Context, from net.Conn, wire chan<- piece) error {
	for {
		p := make([]byte, pieceSize)
		n, err := from.Read(p)
		due := time.Now().Add(r.Delay)
		if n > 0 && !put(ctx, wire, piece{p[:n], due}) {
			return context.Cause(ctx)
		}
		if errors.Is(err, io.EOF) {
			put(ctx, wire, piece{nil, due})
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func put(ctx context.Context, wire chan<- piece, p piece) bool {
	select {
	case wire <- p:
		return true
	case <-ctx.Done():
		return false
	}
}

// deliver writes pieces when they are due.
func deliver(ctx context.Context, wire <-chan piece, to net.Conn) error {
	for p := range wire {
		t := time.NewTimer(time.Until(p.due))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		}
		if p.bytes == nil {
			return closeWrite(to)
		}
		if _, err := to.Write(p.bytes); err != nil {
			return err
		}
	}
	return nil
}

// closeWrite tells the other side that nothing follows.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// reset ends a connection as one that broke, where that can be told apart.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0) // closed already: just as well
	}
	_ = c.Close()
}
