package sock

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

// callsName is the socket in a sandbox' scratch directory at which a lambda
// calls others.
const callsName = "invoke.sock"

// Bounds on what one sandbox may do at the socket.
const (
	callConnections = 64
	callHeaderTime  = 10 * time.Second
	callHeaderBytes = 64 << 10
)

// calls is the server for the calls of one sandbox.
type calls struct {
	server *http.Server
	done   chan struct{} // closed when it takes no more connections
}

// serveCalls makes the socket, before any code of the lambda runs, and serves
// it. Without a handler there is no socket, and the result is nil.
func (g *Guest) serveCalls(h http.Handler) (*calls, error) {
	if h == nil {
		return nil, nil
	}
	file, err := g.place.listenAt(callsName)
	if err != nil {
		return nil, err
	}
	listener, err := net.FileListener(file)
	file.Close() // FileListener duplicates it
	if err != nil {
		return nil, fmt.Errorf("listen for calls: %w", err)
	}
	c := &calls{done: make(chan struct{}), server: &http.Server{
		Handler: h, ReadHeaderTimeout: callHeaderTime, IdleTimeout: time.Minute, MaxHeaderBytes: callHeaderBytes,
		ErrorLog: slog.NewLogLogger(g.log.Handler(), slog.LevelDebug),
	}}
	g.wg.Go(func() {
		defer close(c.done)
		_ = c.server.Serve(netutil.LimitListener(listener, callConnections)) // ends with close
	})
	return c, nil
}

// close ends the server. The sandbox is dead, so that whatever it had called
// for ends too.
func (c *calls) close() {
	if c == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := c.server.Shutdown(ctx); err != nil {
		_ = c.server.Close() // what does not end is cut
	}
	<-c.done
}
