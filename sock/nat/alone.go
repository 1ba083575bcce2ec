package nat

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock/ahead"
)

// keepAlone is how many namespaces that were given back are kept at most: the
// kernel holds some 175 kB for each.
const keepAlone = 64

// Alone is a stock of namespaces that have a loopback and nothing else. Making
// one takes the kernel some 0.7 ms of processor time and, because it waits for
// locks that all networks share, several times that by the clock.
//
// One that was given back is lent again only if nobody ever sent or tried to
// send a packet in it: then there is no connection, no counter and no cached
// metric in it that the next sandbox could see or be hindered by.
type Alone struct {
	make   func(n int) ([]*os.File, error)
	ahead  int
	filler *ahead.Filler
	stop   context.CancelFunc // of the filler
	done   sync.WaitGroup

	making sync.Mutex // held while namespaces are made; before mu

	mu     sync.Mutex
	free   []*Lease
	closed bool
}

// NewAlone begins to make namespaces, so many ahead. maker makes them; nil is
// the package's own Make.
func NewAlone(count int, maker func(n int) ([]*os.File, error), log *slog.Logger) *Alone {
	if maker == nil {
		maker = Make
	}
	ctx, stop := context.WithCancel(context.Background())
	a := &Alone{make: maker, ahead: count, stop: stop}
	a.filler = ahead.New("networks", a.more, log)
	a.done.Go(func() { a.filler.Run(ctx) })
	return a
}

// Get lends a namespace: one from the stock, or a new one.
func (a *Alone) Get() (*Lease, error) {
	a.filler.Taken()
	for {
		if l := a.take(); l != nil {
			return l, nil
		}
		if err := a.add(1, 1); err != nil {
			return nil, err
		}
	}
}

func (a *Alone) take() *Lease {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.free)
	if n == 0 {
		return nil
	}
	l := a.free[n-1]
	a.free = a.free[:n-1]
	return l
}

// Put takes a namespace back that no process is in any more.
func (a *Alone) Put(l *Lease) {
	if !l.untouched() {
		l.file.Close()
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || len(a.free) >= max(a.ahead, keepAlone) {
		l.file.Close()
		return
	}
	a.free = append(a.free, l)
}

// add makes some namespaces unless as many as are wanted are free.
func (a *Alone) add(count, want int) error {
	a.making.Lock()
	defer a.making.Unlock()
	a.mu.Lock()
	enough, closed := len(a.free) >= want, a.closed
	a.mu.Unlock()
	switch {
	case closed:
		return fmt.Errorf("make network: %w", os.ErrClosed)
	case enough:
		return nil
	}
	made, err := a.make(count)
	if err != nil {
		return err
	}
	for i, file := range made {
		l := &Lease{file: file}
		if l.counts, err = settleAlone(file); err != nil {
			closeAll(made[i:])
			return fmt.Errorf("make network: %w", err)
		}
		a.mu.Lock()
		a.free = append(a.free, l)
		a.mu.Unlock()
	}
	return nil
}

// more makes some ahead unless there are enough.
func (a *Alone) more() (bool, error) {
	a.mu.Lock()
	short := !a.closed && len(a.free) < a.ahead
	a.mu.Unlock()
	if !short {
		return false, nil
	}
	err := a.add(batch, a.ahead)
	return err == nil, err
}

// Close lets go of the namespaces in stock. Those that are lent go when they
// are given back.
func (a *Alone) Close() {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return
	}
	a.closed = true
	a.mu.Unlock()
	a.stop()
	a.done.Wait()
	a.making.Lock() // nobody makes any more
	defer a.making.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.free {
		l.file.Close()
	}
	a.free = nil
}

// settleAlone raises the loopback of a new namespace and reads its counters.
func settleAlone(file *os.File) (counts string, err error) {
	err = Inside(file, func() error {
		if err := RaiseLoopback(); err != nil {
			return err
		}
		counts, err = counters()
		return err
	})
	return counts, err
}

// untouched tells whether nothing was sent in a namespace since it was made.
func (l *Lease) untouched() bool {
	var now string
	err := Inside(l.file, func() (err error) { now, err = counters(); return err })
	return err == nil && now == l.counts
}

// counted are the files below /proc/net that count what is sent, received and
// refused: by link and by protocol.
var counted = [...]string{"dev", "snmp", "netstat", "snmp6"}

// counters is what the kernel has counted in the calling thread's namespace.
func counters() (string, error) {
	var all strings.Builder
	for _, name := range counted {
		text, err := os.ReadFile("/proc/thread-self/net/" + name)
		if err != nil && !(os.IsNotExist(err) && slices.Contains([]string{"netstat", "snmp6"}, name)) {
			return "", fmt.Errorf("read counters: %w", err)
		}
		all.Write(text)
	}
	return all.String(), nil
}

// RaiseLoopback starts the loopback of the calling thread's namespace.
func RaiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("raise loopback: make socket: %w", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("raise loopback: %w", err)
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, lo); err != nil {
		return fmt.Errorf("raise loopback: read flags: %w", err)
	}
	lo.SetUint16(lo.Uint16() | unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("raise loopback: %w", err)
	}
	return nil
}
