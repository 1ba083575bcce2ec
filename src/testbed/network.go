package testbed

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// Network is a bridge with hosts.
type Network struct {
	// Prefix begins every name: at most 6 letters, because the kernel takes
	// 15 for an interface.
	Prefix string
	// Subnet is the first three numbers of the addresses, "10.77.0"; .1 is this
	// machine.
	Subnet string
	// Relays is "", or the first three numbers of addresses of this machine
	// that stand for hosts, with the same last number: a Relay that listens
	// there passes on what hosts send one another.
	Relays string
}

// Host is one namespace.
type Host struct {
	Name string // at most 7 letters: "worker1"
	Last int    // the last number of its address, 2 to 254
}

// nsDir is where iproute2, and so everybody, keeps named namespaces.
const nsDir = "/run/netns"

func (n Network) bridge() string           { return n.Prefix + "br" }
func (n Network) ns(host string) string    { return n.Prefix + "-" + host }
func (n Network) outer(host string) string { return n.Prefix + "-" + host }

// Address is a host's IP address.
func (n Network) Address(h Host) string { return fmt.Sprintf("%s.%d", n.Subnet, h.Last) }

// RelayAddress is the address of this machine that stands for a host.
func (n Network) RelayAddress(h Host) string { return fmt.Sprintf("%s.%d", n.Relays, h.Last) }

// Up makes the bridge and the hosts. After an error nothing is left.
func (n Network) Up(hosts []Host) error {
	if len(n.Prefix) == 0 || len(n.Prefix) > 6 {
		return fmt.Errorf("make network: prefix %q must have 1 to 6 letters", n.Prefix)
	}
	if err := n.Down(); err != nil {
		return err
	}
	err := share(nsDir)
	if err == nil {
		err = n.makeBridge(hosts)
	}
	for _, h := range hosts {
		if err == nil {
			err = n.makeHost(h)
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("make network: %w", err), n.Down())
	}
	return nil
}

func (n Network) makeBridge(hosts []Host) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = n.bridge()
	br := &netlink.Bridge{LinkAttrs: attrs}
	if err := netlink.LinkAdd(br); err != nil {
		return fmt.Errorf("add bridge %s: %w", attrs.Name, err)
	}
	addresses := []string{n.Subnet + ".1/24"}
	if n.Relays != "" {
		for _, h := range hosts {
			addresses = append(addresses, n.RelayAddress(h)+"/32")
		}
	}
	for _, a := range addresses {
		addr, err := netlink.ParseAddr(a)
		if err != nil {
			return err
		}
		if err := netlink.AddrAdd(br, addr); err != nil {
			return fmt.Errorf("give bridge the address %s: %w", a, err)
		}
	}
	return netlink.LinkSetUp(br)
}

// makeHost makes a namespace with one end of a veth pair, whose other end is a
// port of the bridge.
func (n Network) makeHost(h Host) error {
	if len(h.Name) > 7 {
		return fmt.Errorf("name %q has more than 7 letters", h.Name)
	}
	inside, err := newNamed(n.ns(h.Name))
	if err != nil {
		return err
	}
	defer inside.Close()
	br, err := netlink.LinkByName(n.bridge())
	if err != nil {
		return fmt.Errorf("find bridge: %w", err)
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MasterIndex = n.outer(h.Name), br.Attrs().Index
	veth := &netlink.Veth{LinkAttrs: attrs, PeerName: "eth0", PeerNamespace: netlink.NsFd(int(inside))}
	if err := netlink.LinkAdd(veth); err != nil {
		return fmt.Errorf("connect %s: %w", h.Name, err)
	}
	if err := netlink.LinkSetUp(veth); err != nil {
		return fmt.Errorf("connect %s: %w", h.Name, err)
	}
	return n.configure(inside, n.Address(h))
}

// configure sets the addresses inside a namespace, and the way to relays.
func (n Network) configure(inside netns.NsHandle, address string) error {
	nl, err := netlink.NewHandleAt(inside)
	if err != nil {
		return fmt.Errorf("enter namespace: %w", err)
	}
	defer nl.Close()
	for _, name := range []string{"lo", "eth0"} {
		link, err := nl.LinkByName(name)
		if err != nil {
			return fmt.Errorf("find %s: %w", name, err)
		}
		if name == "eth0" {
			addr := &netlink.Addr{IPNet: &net.IPNet{IP: net.ParseIP(address).To4(), Mask: net.CIDRMask(24, 32)}}
			if err := nl.AddrAdd(link, addr); err != nil {
				return fmt.Errorf("give %s its address: %w", name, err)
			}
		}
		if err := nl.LinkSetUp(link); err != nil {
			return fmt.Errorf("switch %s on: %w", name, err)
		}
	}
	if n.Relays == "" {
		return nil
	}
	way := &netlink.Route{
		Dst: &net.IPNet{IP: net.ParseIP(n.Relays + ".0").To4(), Mask: net.CIDRMask(24, 32)}, Gw: net.ParseIP(n.Subnet + ".1").To4(),
	}
	if err := nl.RouteAdd(way); err != nil {
		return fmt.Errorf("show %s the way to relays: %w", address, err)
	}
	return nil
}

// newNamed makes a namespace without leaving this thread in it.
func newNamed(name string) (netns.NsHandle, error) {
	runtime.LockOSThread()
	here, err := netns.Get()
	if err != nil {
		runtime.UnlockOSThread()
		return -1, fmt.Errorf("find own namespace: %w", err)
	}
	defer here.Close()
	made, err := netns.NewNamed(name)
	if back := netns.Set(here); back != nil {
		// The thread stays locked, so that it ends with its goroutine.
		return -1, errors.Join(err, fmt.Errorf("return to own namespace: %w", back))
	}
	runtime.UnlockOSThread()
	if err != nil {
		return -1, fmt.Errorf("make namespace %s: %w", name, err)
	}
	return made, nil
}

// In calls f on a thread that is in a host's network: processes that it starts
// are there, too.
func (n Network) In(host string, f func() error) error {
	runtime.LockOSThread()
	here, err := netns.Get()
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("find own namespace: %w", err)
	}
	defer here.Close()
	there, err := netns.GetFromName(n.ns(host))
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("find host %s: %w", host, err)
	}
	defer there.Close()
	if err := netns.Set(there); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("enter host %s: %w", host, err)
	}
	err = f()
	if back := netns.Set(here); back != nil {
		return errors.Join(err, fmt.Errorf("return to own namespace: %w", back))
	}
	runtime.UnlockOSThread()
	return err
}

// Connected tells whether a host is there and not cut off.
func (n Network) Connected(host string) bool {
	link, err := netlink.LinkByName(n.outer(host))
	return err == nil && link.Attrs().Flags&net.FlagUp != 0
}

// Down removes everything that has the prefix. Whatever runs in the hosts must
// have ended before: see Kill.
func (n Network) Down() error {
	var errs []error
	names, err := os.ReadDir(nsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, fmt.Errorf("list namespaces: %w", err))
	}
	for _, e := range names {
		if strings.HasPrefix(e.Name(), n.Prefix+"-") {
			errs = append(errs, n.removeNamespace(e.Name()))
		}
	}
	links, err := allLinks()
	errs = append(errs, err)
	for _, l := range links {
		if name := l.Attrs().Name; name == n.bridge() || strings.HasPrefix(name, n.Prefix+"-") {
			if err := netlink.LinkDel(l); err != nil && !errors.As(err, new(netlink.LinkNotFoundError)) && !gone(name) {
				errs = append(errs, fmt.Errorf("remove %s: %w", name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// allLinks lists the machine's interfaces. The kernel says so if the list
// changed while it was read: then it is read again.
func allLinks() ([]netlink.Link, error) {
	for try := 1; ; try++ {
		links, err := netlink.LinkList()
		if !errors.Is(err, netlink.ErrDumpInterrupted) || try == maxReads {
			return links, err
		}
	}
}

// maxReads bounds how often a list that changes is read.
const maxReads = 100

func gone(name string) bool {
	_, err := netlink.LinkByName(name)
	return errors.As(err, new(netlink.LinkNotFoundError))
}

func (n Network) removeNamespace(name string) error {
	if err := netns.DeleteNamed(name); err != nil {
		// A run that was killed early leaves the file without a mount.
		if err := os.Remove(filepath.Join(nsDir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove namespace %s: %w", name, err)
		}
	}
	return nil
}
