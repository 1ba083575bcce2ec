package testbed

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// Each direction takes the delay, in virtual time to the nanosecond; pieces that
// were sent while others were on their way are not held up longer.
func TestRelayDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const delay = 20 * time.Millisecond
		near, a := net.Pipe()
		b, far := net.Pipe()
		r := &Relay{Delay: delay}
		var wg sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() { r.join(ctx, a, b) })
		start := time.Now()
		wg.Go(func() {
			for _, text := range []string{"one", "two"} {
				if _, err := near.Write([]byte(text)); err != nil {
					t.Error(err)
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
		read := func(c net.Conn, want string, at time.Duration) {
			t.Helper()
			p := make([]byte, 3)
			if _, err := io.ReadFull(c, p); err != nil || string(p) != want || time.Since(start) != at {
				t.Errorf("got %q after %v, want %q after %v: %v", p, time.Since(start), want, at, err)
			}
		}
		read(far, "one", delay)
		read(far, "two", delay+5*time.Millisecond)
		back := time.Since(start)
		if _, err := far.Write([]byte("yes")); err != nil {
			t.Error(err)
		}
		read(near, "yes", back+delay)
		cancel()
		wg.Wait()
		if _, err := near.Read(make([]byte, 1)); err == nil {
			t.Error("the connection outlives the relay")
		}
	})
}

// startRelay relays to a listener of which accept gets the connections.
func startRelay(t *testing.T, delay time.Duration, accept func(net.Conn)) string {
	t.Helper()
	target, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := (&Relay{Target: target.Addr().String(), Delay: delay}).Serve(ctx, l); err != nil {
			t.Error(err)
		}
	})
	wg.Go(func() {
		for {
			c, err := target.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { defer c.Close(); accept(c) })
		}
	})
	t.Cleanup(func() { cancel(); _ = target.Close(); wg.Wait() })
	return l.Addr().String()
}

func dial(t *testing.T, addr string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return c.(*net.TCPConn)
}

// More than fits on the wire passes whole, and the end of one direction leaves
// the other open.
func TestRelayPassesAllAndHalfCloses(t *testing.T) {
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<19) // 8 MB
	addr := startRelay(t, time.Millisecond, func(c net.Conn) {
		got, err := io.ReadAll(c)
		if err != nil || !bytes.Equal(got, sent) {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
		if _, err := io.WriteString(c, "all of it"); err != nil {
			t.Error(err)
		}
	})
	c := dial(t, addr)
	if _, err := c.Write(sent); err != nil {
		t.Fatal(err)
	}
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); err != nil || string(got) != "all of it" {
		t.Errorf("got %q, %v", got, err)
	}
}

// A connection that breaks is no end that somebody wished.
func TestRelayResets(t *testing.T) {
	addr := startRelay(t, 0, func(c net.Conn) {
		_, _ = io.ReadFull(c, make([]byte, 1))
		_ = c.(*net.TCPConn).SetLinger(0)
	})
	c := dial(t, addr)
	if _, err := c.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(c); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v", err)
	}
}

func TestRelayToNobody(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := (&Relay{Target: nobody}).Serve(ctx, in); err != nil {
			t.Error(err)
		}
	})
	defer wg.Wait()
	defer cancel()
	c, err := net.Dial("tcp", in.Addr().String())
	if err == nil { // it may be reset before this side knows that it is there
		_, err = io.ReadAll(c)
		_ = c.Close()
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v", err)
	}
}
