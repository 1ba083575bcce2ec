package nat

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
)

// anyLink begins the names of the links of all workers.
const anyLink = "ollb"

// linkPrefix begins the names of a worker's links. A name has at most 15 bytes.
func linkPrefix(instance string) string {
	sum := sha256.Sum256([]byte(instance))
	return anyLink + hex.EncodeToString(sum[:3]) + "-"
}

// Names are those by which a worker's part of the host's network is known: what
// its links begin with, and its firewall table.
func Names(instance string) (links, table string) { return linkPrefix(instance), tableName(instance) }

// inner is what a sandbox sees its link as.
const inner = "eth0"

// connect links a namespace with the host's.
func (n *Network) connect(l *Lease) error {
	host, own := pair(n.share, l.number)
	link := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: l.link}, PeerName: inner, PeerNamespace: netlink.NsFd(int(l.file.Fd())),
	}
	if err := netlink.LinkAdd(link); err != nil {
		return fmt.Errorf("make link %s: %w", l.link, err)
	}
	err := sysctls(map[string]string{
		"ipv6/conf/" + l.link + "/disable_ipv6": "1",
		"ipv4/conf/" + l.link + "/forwarding":   "1",
	})
	if err == nil {
		err = raise(l.link, host)
	}
	if err == nil {
		err = Inside(l.file, func() error { return furnish(host, own) })
	}
	if err == nil {
		err = awaitUp(l.link)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("set up link %s: %w", l.link, err), remove(l.link))
	}
	l.Address = own
	return nil
}

// furnish sets up a namespace from inside.
func furnish(gateway, own netip.Addr) error {
	err := sysctls(map[string]string{"ipv6/conf/all/disable_ipv6": "1", "ipv6/conf/default/disable_ipv6": "1"})
	if err != nil {
		return err
	}
	if err := RaiseLoopback(); err != nil {
		return err
	}
	if err := raise(inner, own); err != nil {
		return err
	}
	if err := netlink.RouteAdd(&netlink.Route{Gw: gateway.AsSlice()}); err != nil {
		return fmt.Errorf("set default route: %w", err)
	}
	return awaitUp(inner)
}

// upTime bounds the wait for a link. The kernel raises it in the background,
// mostly within a millisecond, and drops packets until then: a first packet
// that is lost costs a sandbox a second.
const upTime = 2 * time.Second

func awaitUp(name string) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(upTime); ; <-tick.C {
		link, err := netlink.LinkByName(name)
		if err != nil {
			return fmt.Errorf("find link: %w", err)
		}
		if link.Attrs().OperState == netlink.OperUp {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("raise link: it is %s after %v", link.Attrs().OperState, upTime)
		}
	}
}

// raise gives a link its address and starts it.
func raise(name string, address netip.Addr) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find link: %w", err)
	}
	const pointToPoint = 31
	to := &netlink.Addr{IPNet: &net.IPNet{IP: address.AsSlice(), Mask: net.CIDRMask(pointToPoint, 32)}}
	if err := netlink.AddrAdd(link, to); err != nil {
		return fmt.Errorf("set address: %w", err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("raise link: %w", err)
	}
	return nil
}

// sysctls sets values below net. Those that the kernel does not have, because
// it was built without IPv6, need no setting.
func sysctls(values map[string]string) error {
	for key, value := range values {
		err := os.WriteFile("/proc/sys/net/"+key, []byte(value), 0o644)
		if err != nil && !(errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(key, "ipv6/")) {
			return fmt.Errorf("set %s: %w", key, err)
		}
	}
	return nil
}

// remove takes a link down; it is no error that there is none.
func remove(name string) error {
	link, err := netlink.LinkByName(name)
	var missing netlink.LinkNotFoundError
	if errors.As(err, &missing) {
		return nil
	}
	if err == nil {
		err = netlink.LinkDel(link)
	}
	if err != nil {
		return fmt.Errorf("remove link %s: %w", name, err)
	}
	return nil
}

// maxReads bounds how often a list that changes is read.
const maxReads = 100

// whole reads a list of the kernel. It says so if the list changed meanwhile:
// then it is read again.
func whole[T any](list func() ([]T, error)) ([]T, error) {
	for try := 1; ; try++ {
		all, err := list()
		if !errors.Is(err, netlink.ErrDumpInterrupted) || try == maxReads {
			return all, err
		}
	}
}

// removeLinks takes down all links of a worker.
func removeLinks(instance string) error {
	links, err := whole(netlink.LinkList)
	if err != nil {
		return fmt.Errorf("list links: %w", err)
	}
	var errs []error
	for _, l := range links {
		if name := l.Attrs().Name; strings.HasPrefix(name, linkPrefix(instance)) {
			errs = append(errs, remove(name))
		}
	}
	return errors.Join(errs...)
}

// inUse lists what the host's addresses and routes cover, the default route
// and the links of workers left out.
func inUse() ([]netip.Prefix, error) {
	routes, err := whole(func() ([]netlink.Route, error) { return netlink.RouteList(nil, netlink.FAMILY_V4) })
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	addrs, err := whole(func() ([]netlink.Addr, error) { return netlink.AddrList(nil, netlink.FAMILY_V4) })
	if err != nil {
		return nil, fmt.Errorf("list addresses: %w", err)
	}
	var used []netip.Prefix
	add := func(n *net.IPNet, link int) {
		if n == nil || ours(link) {
			return
		}
		addr, ok := netip.AddrFromSlice(n.IP.To4())
		if bits, _ := n.Mask.Size(); ok && bits > 0 {
			used = append(used, netip.PrefixFrom(addr, bits).Masked())
		}
	}
	for _, r := range routes {
		add(r.Dst, r.LinkIndex)
	}
	for _, a := range addrs {
		add(a.IPNet, a.LinkIndex)
	}
	return used, nil
}

func ours(index int) bool {
	link, err := netlink.LinkByIndex(index)
	return err == nil && strings.HasPrefix(link.Attrs().Name, anyLink)
}
