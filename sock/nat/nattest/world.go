package nattest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock/nat"
)

// Addresses of the test's world (RFC 5737; the metadata address is the one that
// clouds use).
const (
	Host     = "192.0.2.2"       // of the host that sandboxes run on
	Internet = "203.0.113.10"    // answers HTTP on port 80 with the caller's address
	Resolver = "203.0.113.53"    // answers every question with Internet
	Metadata = "169.254.169.254" // answers HTTP on port 80
	gateway  = "192.0.2.1"
)

// inHost tells the child process that it is on the host.
const inHost = "NATTEST_IN_HOST"

// Run runs f in a process that is on a host of its own: the test binary, once
// more, for this test alone. Networks need the whole process on the host.
func Run(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	if os.Getenv(inHost) == t.Name() {
		f(t)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: making network namespaces needs root")
	}
	host := makeWorld(t)
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), inHost+"="+t.Name())
	// Its own mount namespace lets it hide files of the machine's, see HideFile.
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := nat.Inside(host, cmd.Start)
	if err == nil {
		err = cmd.Wait()
	}
	t.Logf("on the host:\n%s", out.String())
	if err != nil {
		t.Errorf("on the host: %v", err)
	}
	if bytes.Contains(out.Bytes(), []byte("--- SKIP: "+t.Name())) {
		t.Skip("NOT RUN: skipped on the host, see above")
	}
}

// makeWorld makes both namespaces and returns the host's.
func makeWorld(t *testing.T) *os.File {
	t.Helper()
	made, err := nat.Make(2)
	if err != nil {
		t.Fatal(err)
	}
	host, world := made[0], made[1]
	t.Cleanup(func() { host.Close(); world.Close() })
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(nat.Inside(host, func() error {
		link := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "up0"}, PeerName: "down0", PeerNamespace: netlink.NsFd(int(world.Fd()))}
		if err := netlink.LinkAdd(link); err != nil {
			return err
		}
		if err := furnish("up0", gateway, Host); err != nil {
			return err
		}
		return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644)
	}))
	check(nat.Inside(world, func() error {
		if err := furnish("down0", "", gateway, Internet, Resolver, Metadata); err != nil {
			return err
		}
		return serveWorld(t)
	}))
	return host
}

// furnish gives a link its addresses and raises it and loopback.
func furnish(name, via string, addresses ...string) error {
	for _, n := range []string{"lo", name} {
		link, err := netlink.LinkByName(n)
		if err != nil {
			return err
		}
		for _, a := range addresses {
			if n != name {
				break
			}
			bits := 32
			if a == Host || a == gateway {
				bits = 24
			}
			to := &netlink.Addr{IPNet: &net.IPNet{IP: net.ParseIP(a).To4(), Mask: net.CIDRMask(bits, 32)}}
			if err := netlink.AddrAdd(link, to); err != nil {
				return fmt.Errorf("add address %s: %w", a, err)
			}
		}
		if err := netlink.LinkSetUp(link); err != nil {
			return err
		}
	}
	if via == "" {
		return nil
	}
	return netlink.RouteAdd(&netlink.Route{Gw: net.ParseIP(via)})
}

// serveWorld begins to answer; it runs on a thread in the world's namespace.
func serveWorld(t *testing.T) error {
	l, err := net.Listen("tcp4", "0.0.0.0:80")
	if err != nil {
		return err
	}
	Serve(t, l)
	questions, err := net.ListenPacket("udp4", Resolver+":53")
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	wg.Go(func() { answerNames(questions) })
	t.Cleanup(func() { questions.Close(); wg.Wait() })
	return nil
}

// Serve answers HTTP with the caller's address until the test ends.
func Serve(t *testing.T, l net.Listener) {
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, _, _ := net.SplitHostPort(r.RemoteAddr)
		_, _ = io.WriteString(w, caller)
	})}
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() { s.Close(); wg.Wait() })
}

// answerNames answers each question for an address with Internet's (RFC 1035),
// and for anything else with nothing.
func answerNames(conn net.PacketConn) {
	buf := make([]byte, 512)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		const header, typeA = 12, 1
		if n < header+5 {
			continue
		}
		question := append([]byte{}, buf[header:n]...)
		end := bytes.IndexByte(question, 0) + 5 // name, type, class
		if end < 5 || end > len(question) {
			continue
		}
		question = question[:end]
		answer := append([]byte{}, buf[0], buf[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0)
		answer = append(answer, question...)
		if question[end-3] == typeA {
			answer[7] = 1
			answer = append(answer, 0xc0, header, 0, typeA, 0, 1, 0, 0, 0, 60, 0, 4)
			answer = append(answer, net.ParseIP(Internet).To4()...)
		}
		_, _ = conn.WriteTo(answer, from)
	}
}

// HideFile shows text in place of a file to this process, which must be one of
// Run's: they have a mount namespace of their own.
func HideFile(path, text string) error {
	temp, err := os.CreateTemp("", "nattest-")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	if _, err := temp.WriteString(text); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return unix.Mount(temp.Name(), path, "", unix.MS_BIND, "")
}

// Links lists the names of the links that the calling process sees.
func Links(t *testing.T) []string {
	t.Helper()
	links, err := netlink.LinkList()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range links {
		names = append(names, l.Attrs().Name)
	}
	return names
}

// Prefixes parses networks.
func Prefixes(t *testing.T, texts ...string) []netip.Prefix {
	t.Helper()
	var all []netip.Prefix
	for _, s := range texts {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// Ports parses addresses with ports.
func Ports(t *testing.T, texts ...string) []netip.AddrPort {
	t.Helper()
	var all []netip.AddrPort
	for _, s := range texts {
		p, err := netip.ParseAddrPort(s)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}
