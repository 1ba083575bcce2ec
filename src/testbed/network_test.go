package testbed

import (
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
)

// network is one that no other test or user has; t is skipped where the machine
// cannot make it.
func network(t *testing.T) Network {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not run: making network namespaces needs root")
	}
	n := Network{Prefix: "olts", Subnet: "10.79.77"}
	if err := n.Up(nil); err != nil {
		t.Skipf("not run: this machine makes no bridge: %v", err)
	}
	t.Cleanup(func() {
		if err := n.Down(); err != nil {
			t.Error(err)
		}
		for _, left := range leftovers(t, n) {
			t.Errorf("left behind: %s", left)
		}
	})
	return n
}

func leftovers(t *testing.T, n Network) []string {
	t.Helper()
	var out []string
	links, err := netlink.LinkList()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if strings.HasPrefix(l.Attrs().Name, n.Prefix) {
			out = append(out, l.Attrs().Name)
		}
	}
	entries, _ := os.ReadDir(nsDir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), n.Prefix) {
			out = append(out, e.Name())
		}
	}
	return out
}

// serve accepts connections inside a host and greets them.
func serve(t *testing.T, n Network, h Host) string {
	t.Helper()
	var l net.Listener
	err := n.In(h.Name, func() (err error) {
		l, err = net.Listen("tcp", n.Address(h)+":0")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "hello")
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

func reach(addr string, patience time.Duration) bool {
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return false
	}
	defer c.Close()
	text, err := io.ReadAll(c)
	return err == nil && string(text) == "hello"
}

func TestPartitionAndHeal(t *testing.T) {
	n := network(t)
	hosts := []Host{{"a", 11}, {"b", 12}}
	if err := n.Up(hosts); err != nil {
		t.Fatal(err)
	}
	a, b := serve(t, n, hosts[0]), serve(t, n, hosts[1])
	if !reach(a, time.Minute) || !reach(b, time.Minute) {
		t.Fatal("the hosts cannot be reached")
	}
	if err := n.Partition("a"); err != nil {
		t.Fatal(err)
	}
	if n.Connected("a") || !n.Connected("b") {
		t.Error("the network does not know what is cut off")
	}
	if reach(a, 300*time.Millisecond) {
		t.Error("a is reached although it is cut off")
	}
	if !reach(b, time.Minute) {
		t.Error("b cannot be reached any more")
	}
	if err := n.Heal("a"); err != nil {
		t.Fatal(err)
	}
	if !reach(a, time.Minute) {
		t.Error("a cannot be reached again")
	}
}

func TestUpAgainAndDownTwice(t *testing.T) {
	n := network(t)
	for range 2 {
		if err := n.Up([]Host{{"a", 11}}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := n.Down(); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Up([]Host{{"muchtoolong", 11}}); err == nil {
		t.Error("a name that the kernel does not take was accepted")
	}
	if left := leftovers(t, n); len(left) > 0 {
		t.Errorf("a failed Up left %v", left)
	}
	if err := n.In("nobody", func() error { return nil }); err == nil {
		t.Error("a host that is not there was entered")
	}
}
