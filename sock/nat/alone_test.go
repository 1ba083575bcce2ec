package nat

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func newAlone(t *testing.T, ahead int) *Alone {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: network namespaces need root")
	}
	a := NewAlone(ahead, nil, slog.New(slog.DiscardHandler))
	t.Cleanup(a.Close)
	return a
}

// identity tells namespaces apart.
func identity(t *testing.T, l *Lease) uint64 {
	t.Helper()
	var s unix.Stat_t
	if err := unix.Fstat(int(l.File().Fd()), &s); err != nil {
		t.Fatal(err)
	}
	return s.Ino
}

func lend(t *testing.T, a *Alone) *Lease {
	t.Helper()
	l, err := a.Get()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func talkToItself() error {
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.WriteTo([]byte("x"), c.LocalAddr())
	return err
}

// reachOut succeeds if it cannot send anything to another machine.
func reachOut() error {
	c, err := net.Dial("udp4", "203.0.113.10:9")
	if err == nil {
		c.Close()
		return errors.New("there is a way out")
	}
	return nil
}

// A namespace in which something was sent, or tried to, is never lent again.
func TestAloneIsLentAsNew(t *testing.T) {
	for name, c := range map[string]struct {
		use  func() error
		same bool
	}{
		"nothing":              {func() error { return nil }, true},
		"a packet to itself":   {talkToItself, false},
		"no way out":           {reachOut, false},
		"a socket, no packets": {bindOnly, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAlone(t, 0)
			l := lend(t, a)
			if err := Inside(l.File(), c.use); err != nil {
				t.Fatal(err)
			}
			was := identity(t, l)
			keep, err := unix.Dup(int(l.File().Fd())) // or its number could come back
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(keep)
			a.Put(l)
			again := false
			for range 2 {
				other := lend(t, a)
				again = again || identity(t, other) == was
				defer a.Put(other)
			}
			if again != c.same {
				t.Errorf("lent again: %t", again)
			}
		})
	}
}

func bindOnly() error {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	return l.Close()
}

func TestAloneKeepsSomeAhead(t *testing.T) {
	a := newAlone(t, 6)
	seen := map[uint64]bool{}
	for range 10 {
		l := lend(t, a)
		if id := identity(t, l); seen[id] {
			t.Errorf("namespace %d is lent twice", id)
		} else {
			seen[id] = true
		}
		defer a.Put(l)
	}
	a.Close()
	if l, err := a.Get(); err == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		t.Errorf("a stock that is closed lends %v", l)
	}
}
