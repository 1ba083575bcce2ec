package testbed

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
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
	links, err := allLinks()
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
	if err := n.Heal(hosts[0], hosts); err != nil {
		t.Fatal(err)
	}
	if !reach(a, time.Minute) {
		t.Error("a cannot be reached again")
	}
}

// Two hosts that are parted reach all others, and one another again once one of
// them is healed.
func TestPartTwoHosts(t *testing.T) {
	n := network(t)
	hosts := []Host{{"a", 11}, {"b", 12}, {"c", 13}}
	if err := n.Up(hosts); err != nil {
		t.Fatal(err)
	}
	b, c := serve(t, n, hosts[1]), serve(t, n, hosts[2])
	from := func(host, addr string, patience time.Duration) (ok bool) {
		if err := n.In(host, func() error { ok = reach(addr, patience); return nil }); err != nil {
			t.Error(err)
		}
		return ok
	}
	if err := n.Part(hosts[0], hosts[1]); err != nil {
		t.Fatal(err)
	}
	if from("a", b, 300*time.Millisecond) {
		t.Error("a reaches b")
	}
	if !from("a", c, time.Minute) || !from("c", b, time.Minute) || !reach(b, time.Minute) {
		t.Error("others are cut off as well")
	}
	if err := n.Heal(hosts[0], hosts); err != nil {
		t.Fatal(err)
	}
	if !from("a", b, time.Minute) {
		t.Error("a does not reach b again")
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

// Kill finds what lives in a host by what the kernel says, also what its parent
// has left behind, and nothing of another host.
func TestKillFindsEveryProcessOfAHost(t *testing.T) {
	n := network(t)
	if err := n.Up([]Host{{"a", 11}, {"b", 12}}); err != nil {
		t.Fatal(err)
	}
	start := func(host, script string) *exec.Cmd {
		t.Helper()
		c := exec.Command("sh", "-c", script)
		if err := n.In(host, c.Start); err != nil {
			t.Fatal(err)
		}
		return c
	}
	other := start("b", "exec sleep 600")
	leaving := start("a", "setsid sleep 600 & setsid sleep 600 & exit 0")
	if err := leaving.Wait(); err != nil {
		t.Fatal(err)
	}
	staying := start("a", "exec sleep 600")
	if pids, err := n.Processes("a"); err != nil || len(pids) != 3 {
		t.Errorf("got %v, %v", pids, err)
	}
	if err := n.Kill("a"); err != nil {
		t.Error(err)
	}
	_ = staying.Wait() // it was killed
	if pids, err := n.Processes("a"); err != nil || len(pids) != 0 {
		t.Errorf("left: %v, %v", pids, err)
	}
	if pids, err := n.Processes("b"); err != nil || len(pids) != 1 {
		t.Errorf("of the other host: %v, %v", pids, err)
	}
	if err := n.Kill("b"); err != nil {
		t.Error(err)
	}
	_ = other.Wait()
	if err := n.Kill("nobody"); err != nil {
		t.Error(err)
	}
}

// With a relay in between what hosts send one another takes its time, and a host
// that is cut off is cut off all the same.
func TestRelayBetweenHosts(t *testing.T) {
	n := network(t)
	n.Relays = "10.79.78"
	a, b := Host{"a", 11}, Host{"b", 12}
	if err := n.Up([]Host{a, b}); err != nil {
		t.Fatal(err)
	}
	target := serve(t, n, a)
	_, port, err := net.SplitHostPort(target)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(n.RelayAddress(a), port))
	if err != nil {
		t.Fatal(err)
	}
	const delay = 30 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := (&Relay{Target: target, Delay: delay}).Serve(ctx, l); err != nil {
			t.Error(err)
		}
	})
	defer wg.Wait()
	defer cancel()
	from := func(patience time.Duration) (ok bool, took time.Duration) {
		began := time.Now()
		err := n.In("b", func() error { ok = reach(l.Addr().String(), patience); return nil })
		if err != nil {
			t.Error(err)
		}
		return ok, time.Since(began)
	}
	if ok, took := from(time.Minute); !ok || took < delay {
		t.Errorf("reached: %v, after %v", ok, took)
	}
	if err := n.Partition("b"); err != nil {
		t.Fatal(err)
	}
	if ok, _ := from(300 * time.Millisecond); ok {
		t.Error("a host that is cut off reaches the relay")
	}
}
