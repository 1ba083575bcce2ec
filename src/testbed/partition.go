package testbed

import (
	"errors"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// Partition cuts a host off from all others; Heal connects it again.
func (n Network) Partition(host string) error { return n.port(host, netlink.LinkSetDown) }

// Heal connects a host again, also with those that it was parted from.
func (n Network) Heal(host Host, all []Host) error {
	if err := n.port(host.Name, netlink.LinkSetUp); err != nil {
		return err
	}
	for _, other := range all {
		if err := n.between(host, other, mend); err != nil {
			return err
		}
	}
	return nil
}

// Part cuts the way between two hosts, in both directions; with all others both
// stay connected.
func (n Network) Part(a, b Host) error { return n.between(a, b, cut) }

func (n Network) port(host string, set func(netlink.Link) error) error {
	link, err := netlink.LinkByName(n.outer(host))
	if err != nil {
		return fmt.Errorf("find port of %s: %w", host, err)
	}
	if err := set(link); err != nil {
		return fmt.Errorf("switch port of %s: %w", host, err)
	}
	return nil
}

// between changes what each of two hosts knows of the way to the other.
func (n Network) between(a, b Host, change func(*netlink.Handle, *netlink.Route) error) error {
	for _, way := range [][2]Host{{a, b}, {b, a}} {
		if err := n.way(way[0], way[1], change); err != nil {
			return fmt.Errorf("change the way from %s to %s: %w", way[0].Name, way[1].Name, err)
		}
	}
	return nil
}

func (n Network) way(from, to Host, change func(*netlink.Handle, *netlink.Route) error) error {
	inside, err := netns.GetFromName(n.ns(from.Name))
	if err != nil {
		return err
	}
	defer inside.Close()
	nl, err := netlink.NewHandleAt(inside)
	if err != nil {
		return err
	}
	defer nl.Close()
	targets := []string{n.Address(to)}
	if n.Relays != "" {
		targets = append(targets, n.RelayAddress(to))
	}
	for _, t := range targets {
		if err := change(nl, nowhere(t)); err != nil {
			return err
		}
	}
	return nil
}

// nowhere is a route that drops what is sent to an address.
func nowhere(address string) *netlink.Route {
	return &netlink.Route{
		Dst:  &net.IPNet{IP: net.ParseIP(address).To4(), Mask: net.CIDRMask(32, 32)},
		Type: unix.RTN_BLACKHOLE,
	}
}

func cut(nl *netlink.Handle, r *netlink.Route) error { return nl.RouteReplace(r) }

func mend(nl *netlink.Handle, r *netlink.Route) error {
	if err := nl.RouteDel(r); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	return nil
}
