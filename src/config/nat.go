package config

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Bits of the network that a machine's sandboxes share: more leave too few
// addresses for each of its workers, fewer are no private network.
const natBitsLeast, natBitsMost = 8, 20

func (n NAT) validate(v *validation) {
	if _, err := n.ParseRange(); err != nil {
		v.fail("nat.range", strconv.Quote(n.Range), err.Error(), "10.208.0.0/12")
	}
	if _, err := n.ParseDeny(); err != nil {
		v.fail("nat.deny", strconv.Quote(n.Deny), err.Error(), "")
	}
}

// ParseRange returns Range; the zero prefix if one is to be chosen.
func (n NAT) ParseRange() (netip.Prefix, error) {
	if n.Range == "" {
		return netip.Prefix{}, nil
	}
	p, err := netip.ParsePrefix(n.Range)
	if err != nil || !p.Addr().Is4() || p.Bits() < natBitsLeast || p.Bits() > natBitsMost || p != p.Masked() {
		return netip.Prefix{}, fmt.Errorf("it must be an IPv4 network of %d to %d bits", natBitsLeast, natBitsMost)
	}
	return p, nil
}

// ParseDeny returns the networks of Deny.
func (n NAT) ParseDeny() ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, field := range strings.Fields(n.Deny) {
		p, err := netip.ParsePrefix(field)
		if err != nil || !p.Addr().Is4() {
			return nil, fmt.Errorf("%q is not an IPv4 network such as 192.168.0.0/16", field)
		}
		all = append(all, p.Masked())
	}
	return all, nil
}
