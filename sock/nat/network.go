package nat

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"sync"

	"github.com/vishvananda/netlink"
)

// batch is how many namespaces are made at a time.
const batch = 4

// Config says for whom networks are.
type Config struct {
	Instance  string           // names the worker on its host
	Index     int              // of the worker among those of the host, below 128
	Range     netip.Prefix     // addresses for the sandboxes of all workers of the host; zero: chosen
	Deny      []netip.Prefix   // destinations that are refused besides those that always are, IPv4
	DenyPorts []netip.AddrPort // TCP ports that are refused, IPv4
	Ahead     int              // namespaces kept ready

	// Make makes namespaces; nil is the package's own Make.
	Make   func(n int) ([]*os.File, error)
	Logger *slog.Logger
}

// Network is one worker's namespaces and rules.
type Network struct {
	cfg   Config
	share netip.Prefix
	wake  chan struct{} // capacity 1: there may be work for keep
	quit  chan struct{}
	done  sync.WaitGroup

	making sync.Mutex // held while namespaces are made; before mu

	mu     sync.Mutex
	free   []*Lease // longest unused first
	used   []*Lease // returned, their flows not forgotten yet
	next   int      // number of the next one made, unless one is vacant
	vacant []int    // numbers of namespaces that were removed
	closed bool
}

// Lease is a namespace lent to one sandbox.
type Lease struct {
	Address netip.Addr // of the sandbox
	file    *os.File
	number  int
	link    string
	counts  string // of one without a link: what the kernel had counted when it was made
}

// File is the namespace, for setns(2).
func (l *Lease) File() *os.File { return l.file }

// ErrExhausted says that no address is left.
var ErrExhausted = errors.New("no address is left for another sandbox")

// Open installs the worker's rules and begins to make namespaces.
func Open(cfg Config) (*Network, error) {
	if cfg.Make == nil {
		cfg.Make = Make
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	n := &Network{cfg: cfg, wake: make(chan struct{}, 1), quit: make(chan struct{}), next: 1}
	if err := n.allot(); err != nil {
		return nil, err
	}
	if err := Clean(cfg.Instance); err != nil {
		return nil, err
	}
	if err := n.install(); err != nil {
		return nil, err
	}
	n.done.Go(n.keep)
	poke(n.wake)
	return n, nil
}

// allot finds the worker's addresses.
func (n *Network) allot() error {
	for _, p := range n.cfg.Deny {
		if !p.Addr().Is4() {
			return fmt.Errorf("deny addresses: %s is not IPv4, and only IPv4 passes anyway", p)
		}
	}
	n.cfg.DenyPorts = slices.DeleteFunc(slices.Clone(n.cfg.DenyPorts), func(p netip.AddrPort) bool { return !p.Addr().Is4() })
	candidates := ranges()
	if n.cfg.Range.IsValid() {
		if err := CheckRange(n.cfg.Range); err != nil {
			return err
		}
		candidates = []netip.Prefix{n.cfg.Range}
	}
	used, err := inUse()
	if err != nil {
		return err
	}
	whole, err := choose(candidates, used)
	if err != nil {
		return err
	}
	n.share, err = share(whole, n.cfg.Index)
	return err
}

// Describe says which addresses sandboxes have.
func (n *Network) Describe() string { return "nat from " + n.share.String() }

// Get lends a namespace: the one longest unused, or a new one.
func (n *Network) Get() (*Lease, error) {
	defer poke(n.wake)
	for {
		if l := n.take(); l != nil {
			return l, nil
		}
		n.renew()
		if err := n.make(1); err != nil {
			return nil, err
		}
	}
}

// take is the free namespace that is longest unused, nil if there is none.
func (n *Network) take() *Lease {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.free) == 0 {
		return nil
	}
	l := n.free[0]
	n.free = slices.Delete(n.free, 0, 1)
	return l
}

// Put takes a namespace back that no process is in any more.
func (n *Network) Put(l *Lease) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.used = append(n.used, l)
	poke(n.wake)
}

// make adds some namespaces to the free ones unless so many are free. Others may
// have taken them all before the caller looks.
func (n *Network) make(want int) error {
	n.making.Lock()
	defer n.making.Unlock()
	n.mu.Lock()
	if len(n.free) >= want {
		n.mu.Unlock()
		return nil
	}
	numbers, closed := n.numbers(), n.closed
	n.mu.Unlock()
	if closed || len(numbers) == 0 {
		return fmt.Errorf("make network: %w", ErrExhausted)
	}
	made, err := n.cfg.Make(len(numbers))
	if err != nil {
		return err
	}
	for i, file := range made {
		l := &Lease{file: file, number: numbers[i], link: fmt.Sprint(linkPrefix(n.cfg.Instance), numbers[i])}
		if err := n.connect(l); err != nil {
			closeAll(made[i:])
			return err
		}
		n.mu.Lock()
		n.free = append(n.free, l)
		n.taken(l.number)
		n.mu.Unlock()
	}
	return nil
}

func poke(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// keep makes namespaces ahead and returned ones fit for use, until Close.
func (n *Network) keep() {
	for {
		select {
		case <-n.quit:
			return
		case <-n.wake:
		}
		n.renew()
		n.shrink()
		for n.short() {
			if err := n.make(max(n.cfg.Ahead, 1)); err != nil {
				n.cfg.Logger.Warn("cannot make networks ahead", slog.Any("error", err))
				break
			}
		}
	}
}

func (n *Network) short() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.closed && len(n.free)+len(n.used) < n.cfg.Ahead
}

// renew forgets the flows of returned namespaces and makes them free.
func (n *Network) renew() {
	n.mu.Lock()
	returned := n.used
	n.used = nil
	n.mu.Unlock()
	if len(returned) == 0 {
		return
	}
	flows := flowsOf{}
	for _, l := range returned {
		flows[l.Address] = true
	}
	if _, err := netlink.ConntrackDeleteFilters(netlink.ConntrackTable, netlink.FAMILY_V4, flows); err != nil {
		// What is left of them ends by itself, and finds no socket.
		n.cfg.Logger.Debug("cannot forget flows", slog.Any("error", err))
	}
	n.mu.Lock()
	n.free = append(n.free, returned...)
	n.mu.Unlock()
}

// flowsOf matches flows that certain addresses began.
type flowsOf map[netip.Addr]bool

// MatchConntrackFlow is part of netlink.CustomConntrackFilter.
func (f flowsOf) MatchConntrackFlow(flow *netlink.ConntrackFlow) bool {
	addr, ok := netip.AddrFromSlice(flow.Forward.SrcIP.To4())
	return ok && f[addr]
}

// Close removes links and rules. All leases must be back.
func (n *Network) Close() error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return nil
	}
	n.closed = true
	n.mu.Unlock()
	close(n.quit)
	n.done.Wait()
	n.making.Lock() // nobody makes any more
	defer n.making.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	var errs []error
	for _, l := range append(n.free, n.used...) {
		errs = append(errs, remove(l.link))
		l.file.Close()
	}
	n.free, n.used = nil, nil
	return errors.Join(append(errs, uninstall(n.cfg.Instance))...)
}

// Clean removes what a killed worker has left.
func Clean(instance string) error { return errors.Join(removeLinks(instance), uninstall(instance)) }
