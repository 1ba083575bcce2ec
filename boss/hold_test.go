package boss

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// Connections that were made before are served, none is made after, and nothing
// is left to be accepted when the port is closed.
func TestHoldOff(t *testing.T) {
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	made, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	if n, err := unaccepted(l); n != 1 || err != nil {
		t.Errorf("%d connections wait, %v", n, err)
	}
	if err := holdOff(l); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if c, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String()); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a connection was made: %v, %v", c, err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n, err := unaccepted(l); n != 0 || err != nil {
		t.Errorf("%d connections wait, %v", n, err)
	}
	if _, err := io.WriteString(made, "x"); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Error(err)
	}
}
