package nat_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/nftables"
	"go.uber.org/goleak"

	"github.com/open-lambda/open-lambda/sock/nat"
	"github.com/open-lambda/open-lambda/sock/nat/nattest"
)

func open(t *testing.T, instance string, index int) *nat.Network {
	t.Helper()
	n, err := nat.Open(nat.Config{Instance: instance, Index: index, Ahead: 2, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return n
}

// A caller without a logger, as the check of a host is, gets none of its faults
// told and survives them.
func TestFaultsWithoutALogger(t *testing.T) {
	nattest.Run(t, func(t *testing.T) {
		asked := make(chan struct{}, 8)
		n, err := nat.Open(nat.Config{Instance: "mute", Ahead: 1, Make: func(int) ([]*os.File, error) {
			asked <- struct{}{}
			return nil, errors.New("no namespace")
		}})
		if err != nil {
			t.Fatal(err)
		}
		<-asked // by the network itself, which has only its logger to tell
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
}

func get(t *testing.T, n *nat.Network) *nat.Lease {
	t.Helper()
	l, err := n.Get()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// fetch asks an HTTP server from inside a namespace; "" is no answer.
func fetch(t *testing.T, l *nat.Lease, address string) string {
	t.Helper()
	var conn net.Conn
	err := nat.Inside(l.File(), func() (err error) {
		conn, err = net.DialTimeout("tcp4", address, 700*time.Millisecond)
		return err
	})
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return conn, nil },
	}}
	resp, err := client.Get("http://" + address + "/")
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return ""
	}
	return string(text)
}

func tables(t *testing.T) []string {
	t.Helper()
	conn, err := nftables.New()
	if err != nil {
		t.Fatal(err)
	}
	all, err := conn.ListTables()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, table := range all {
		names = append(names, table.Name)
	}
	slices.Sort(names)
	return names
}

func TestWhatPasses(t *testing.T) {
	nattest.Run(t, func(t *testing.T) {
		l, err := net.Listen("tcp4", "0.0.0.0:5000")
		if err != nil {
			t.Fatal(err)
		}
		nattest.Serve(t, l)
		a, b := open(t, "a", 0), open(t, "b", 1)
		one, two, other := get(t, a), get(t, a), get(t, b)
		for _, lease := range []*nat.Lease{two, other} {
			err := nat.Inside(lease.File(), func() error {
				l, err := net.Listen("tcp4", "0.0.0.0:5000")
				if err == nil {
					nattest.Serve(t, l)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		gateway := one.Address.Prev().String()
		var wg sync.WaitGroup
		for address, want := range map[string]string{
			nattest.Internet + ":80":              nattest.Host, // masqueraded
			nattest.Metadata + ":80":              "",
			nattest.Host + ":5000":                "",
			gateway + ":5000":                     "",
			two.Address.String() + ":5000":        "",
			two.Address.Prev().String() + ":5000": "",
			other.Address.String() + ":5000":      "",
			"127.0.0.1:5000":                      "",
		} {
			wg.Go(func() {
				if got := fetch(t, one, address); got != want {
					t.Errorf("%s answers %q, want %q", address, got, want)
				}
			})
		}
		wg.Wait()
		for address, lease := range map[string]*nat.Lease{"127.0.0.1:5000": two} {
			if got := fetch(t, lease, address); got == "" {
				t.Errorf("its own %s does not answer", address)
			}
		}
		a.Put(one)
		a.Put(two)
		b.Put(other)
	})
}

func TestDenied(t *testing.T) {
	nattest.Run(t, func(t *testing.T) {
		n, err := nat.Open(nat.Config{
			Instance: "deny", Ahead: 1, Logger: slog.New(slog.DiscardHandler),
			Deny:      nattest.Prefixes(t, nattest.Resolver+"/32"),
			DenyPorts: nattest.Ports(t, nattest.Internet+":80", "[fd00::1]:80"),
		})
		if err != nil {
			t.Fatal(err)
		}
		l := get(t, n)
		for _, address := range []string{nattest.Internet + ":80", nattest.Resolver + ":80"} {
			if got := fetch(t, l, address); got != "" {
				t.Errorf("%s answers %q", address, got)
			}
		}
		n.Put(l)
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestNothingIsLeft(t *testing.T) {
	nattest.Run(t, func(t *testing.T) {
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
		before := fmt.Sprint(nattest.Links(t), tables(t))
		n, err := nat.Open(nat.Config{Instance: "left", Ahead: 6, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		var leases []*nat.Lease
		for range 9 {
			leases = append(leases, get(t, n))
		}
		if !strings.Contains(fmt.Sprint(tables(t)), "openlambda-left") {
			t.Errorf("tables are %v", tables(t))
		}
		for _, l := range leases {
			n.Put(l)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if _, err := n.Get(); err == nil {
			t.Error("a closed network lends namespaces")
		}
		if after := fmt.Sprint(nattest.Links(t), tables(t)); after != before {
			t.Errorf("after closing there are %s, before %s", after, before)
		}
	})
}

// A worker that starts again finds the links and rules of the one that was
// killed, and leaves those of others alone.
func TestCleanAfterOneKilled(t *testing.T) {
	nattest.Run(t, func(t *testing.T) {
		other := open(t, "other", 3)
		get(t, other)
		before := fmt.Sprint(tables(t))
		killed := open(t, "killed", 4)
		get(t, killed)
		links := prefixesOf(t)
		if err := nat.Clean("killed"); err != nil {
			t.Fatal(err)
		}
		if after := fmt.Sprint(tables(t)); after != before {
			t.Errorf("tables are %s, before %s", after, before)
		}
		if now := prefixesOf(t); len(links) != 2 || len(now) != 1 {
			t.Errorf("links of %v are left, before of %v", now, links)
		}
		if err := nat.Clean("killed"); err != nil {
			t.Errorf("cleaning twice: %v", err)
		}
	})
}

// prefixesOf tells which workers have links.
func prefixesOf(t *testing.T) map[string]bool {
	found := map[string]bool{}
	for _, name := range nattest.Links(t) {
		if prefix, _, ok := strings.Cut(name, "-"); ok && strings.HasPrefix(name, "ollb") {
			found[prefix] = true
		}
	}
	return found
}

// Namespaces are used again, and not before others that are free.
func TestNamespacesAreReused(t *testing.T) {
	nattest.Run(t, func(t *testing.T) {
		n := open(t, "reuse", 5)
		seen := map[string]int{}
		for range 40 {
			l := get(t, n)
			seen[l.Address.String()]++
			if got := fetch(t, l, nattest.Internet+":80"); got != nattest.Host {
				t.Fatalf("no way out from %s: %q", l.Address, got)
			}
			n.Put(l)
		}
		if len(seen) > 20 {
			t.Errorf("40 leases took %d namespaces", len(seen))
		}
	})
}

func TestCheck(t *testing.T) {
	nattest.Run(t, func(t *testing.T) {
		before := fmt.Sprint(nattest.Links(t), tables(t))
		if err := nat.Check(); err != nil {
			t.Error(err)
		}
		if after := fmt.Sprint(nattest.Links(t), tables(t)); after != before {
			t.Errorf("it left %s, before %s", after, before)
		}
	})
}

func TestCheckWithoutForwarding(t *testing.T) {
	made, err := nat.Make(1)
	if err != nil {
		t.Skipf("NOT RUN: making network namespaces needs root: %v", err)
	}
	defer made[0].Close()
	err = nat.Inside(made[0], nat.Check)
	lack, ok := err.(*nat.Lack)
	if !ok || !strings.Contains(lack.Mend, "ip_forward=1") {
		t.Errorf("check says %v", err)
	}
}
