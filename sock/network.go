package sock

import (
	"fmt"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/sock/nat"
)

// networkTime bounds how long a helper may take to make namespaces.
const networkTime = 30 * time.Second

// NAT says how the network of NetworkNAT is made; zero is fine.
type NAT struct {
	Range     netip.Prefix     // IPv4 addresses for the sandboxes of all workers of the host; zero: chosen
	Deny      []netip.Prefix   // destinations that are refused besides those that always are
	DenyPorts []netip.AddrPort // TCP ports that are refused
}

// Networks is what sandboxes with NetworkNAT get theirs from, made when the
// first asks.
type Networks struct {
	cfg nat.Config

	mu     sync.Mutex
	nat    *nat.Network
	closed bool
}

// NewNetworks prepares the networks of one provider. ahead is how many are kept
// ready; make makes namespaces, nil those of the host's root.
func NewNetworks(cfg Config, u *Users, ahead int, make func(int) ([]*os.File, error)) *Networks {
	return &Networks{cfg: nat.Config{
		Instance: cfg.Instance, Index: u.block.Index, Range: cfg.NAT.Range,
		Deny: cfg.NAT.Deny, DenyPorts: cfg.NAT.DenyPorts, Ahead: ahead, Logger: cfg.Logger, Make: make,
	}}
}

// Lend gets a namespace for a sandbox; nil if the network takes none.
func (n *Networks) Lend(network string) (*nat.Lease, error) {
	if network != NetworkNAT {
		return nil, nil
	}
	open, err := n.open()
	if err != nil {
		return nil, err
	}
	return open.Get()
}

func (n *Networks) open() (*nat.Network, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, ErrClosed
	}
	if n.nat != nil {
		return n.nat, nil
	}
	opened, err := nat.Open(n.cfg)
	if err != nil {
		return nil, fmt.Errorf("open network: %w", err)
	}
	n.nat = opened
	return opened, nil
}

// GiveBack returns a namespace that nothing runs in any more.
func (n *Networks) GiveBack(l *nat.Lease) {
	if l != nil {
		n.nat.Put(l)
	}
}

// Describe says which network sandboxes get that ask for none in particular.
func (n *Networks) Describe(network string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.nat != nil {
		network += " (" + n.nat.Describe() + ")"
	}
	return network
}

// Close removes links and rules.
func (n *Networks) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	if n.nat == nil {
		return nil
	}
	return n.nat.Close()
}

// forkable says whether a zygote can make children with a network. One that
// lives in a realm is alone, or on the host if that is the provider's network,
// and cannot come back from where it has no power.
func (p *Provider) forkable(network string) bool {
	switch {
	case p.users.realm == nil, network == p.cfg.Network, network == NetworkNone:
		return true
	}
	return network == NetworkNAT && p.cfg.Network == NetworkNone
}
