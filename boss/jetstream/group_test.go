package jetstream

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/boss/registry"
	"github.com/open-lambda/open-lambda/src/emulate/pki"
)

// freeAddrs asks the kernel for addresses that nobody listens on.
func freeAddrs(t *testing.T, n int) []string {
	t.Helper()
	var addrs []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		addrs = append(addrs, l.Addr().String())
	}
	return addrs
}

// rarely is the interval of syncs in tests. The server (2.15.3) sets the timer
// for them without its lock when a store is made, and reads it with the lock
// when it fires; the race detector would report that on a machine so busy that
// nobody takes the lock in between.
const rarely = time.Minute

type group struct {
	t      *testing.T
	addrs  []string
	dirs   []string
	stores []*Store
	tls    []*tls.Config
}

// newGroup starts three bosses' stores, with the certificates in t if there are any.
func newGroup(t *testing.T, certs ...*tls.Config) *group {
	g := &group{t: t, addrs: freeAddrs(t, 3), stores: make([]*Store, 3), tls: certs}
	if len(certs) == 0 {
		g.tls = make([]*tls.Config, 3)
	}
	for i := range g.stores {
		g.dirs = append(g.dirs, t.TempDir())
		g.start(i)
	}
	t.Cleanup(func() {
		for i := range g.stores {
			g.stop(i)
		}
	})
	return g
}

func (g *group) start(i int) {
	g.t.Helper()
	s, err := Open(Config{Dir: g.dirs[i], Name: fmt.Sprintf("boss%d", i), Token: "secret", Listen: g.addrs[i], Peers: g.addrs, TLS: g.tls[i], SyncEvery: rarely}, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	g.stores[i] = s
}

func (g *group) stop(i int) {
	if g.stores[i] != nil {
		_ = g.stores[i].Close()
		g.stores[i] = nil
	}
}

// put writes with the patience of a registry.
func (g *group) put(i int, name string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(g.t.Context(), 3*time.Second)
	defer cancel()
	begun := time.Now()
	_, err := g.stores[i].Put(ctx, name, []byte(name), registry.Any)
	return time.Since(begun), err
}

// eventually writes until the group takes it.
func (g *group) eventually(i int, name string) time.Duration {
	g.t.Helper()
	begun := time.Now()
	for {
		_, err := g.put(i, name)
		if err == nil {
			return time.Since(begun)
		}
		if time.Since(begun) > 3*time.Minute {
			g.t.Fatalf("%s was never written: %v", name, err)
		}
	}
}

// names are what a watch of one boss finds.
func (g *group) names(i int) map[string]bool {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), 3*time.Minute)
	defer cancel()
	for {
		changes, err := g.stores[i].Watch(ctx)
		if err != nil {
			if ctx.Err() != nil {
				g.t.Fatal(err)
			}
			continue
		}
		all := map[string]bool{}
		for c := range changes {
			if c.Name == "" {
				cancel()
				return all
			}
			all[c.Name] = c.Value != nil
		}
	}
}

// Failure table: JetStream node lost, quorum lost: writes fail, nothing that
// was acknowledged is lost, and it recovers by itself.
func TestGroupLosesNodesAndQuorum(t *testing.T) {
	if testing.Short() {
		t.Skip("three servers elect leaders: left out with -short")
	}
	g := newGroup(t)
	t.Logf("the group formed within %v", g.eventually(0, "first").Round(time.Millisecond))
	acknowledged := []string{"first"}
	for n := range 20 {
		name := fmt.Sprintf("n%d", n)
		if _, err := g.put(n%3, name); err == nil {
			acknowledged = append(acknowledged, name)
		}
	}
	g.stop(2)
	t.Logf("one node lost: writes go on after %v", g.eventually(0, "two").Round(time.Millisecond))
	g.stop(1)
	took, err := g.put(0, "lost")
	if err == nil {
		t.Error("one of three acknowledged a write")
	}
	t.Logf("quorum lost: a write failed after %v: %v", took.Round(time.Millisecond), err)
	g.start(1)
	t.Logf("quorum back: writes go on after %v", g.eventually(0, "three").Round(time.Millisecond))
	g.start(2)
	g.eventually(2, "four")
	acknowledged = append(acknowledged, "two", "three", "four")
	all := g.names(2)
	for _, name := range acknowledged {
		if !all[name] {
			t.Errorf("%s was acknowledged and is lost", name)
		}
	}
}

// Bosses with certificates of one authority form a group; one with a certificate
// of another, but with the token, stays outside.
func TestGroupOverTLS(t *testing.T) {
	if testing.Short() {
		t.Skip("three servers elect leaders: left out with -short")
	}
	config := func(a *pki.Authority) *tls.Config {
		pair, err := a.Issue("127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: a.Pool()}
	}
	ours, err := pki.New()
	if err != nil {
		t.Fatal(err)
	}
	other, err := pki.New()
	if err != nil {
		t.Fatal(err)
	}
	g := newGroup(t, config(ours), config(ours), config(ours))
	t.Logf("the group formed within %v", g.eventually(0, "one").Round(time.Millisecond))
	g.stop(2)
	g.eventually(1, "two")
	g.tls[2], g.dirs[2] = config(other), t.TempDir()
	g.start(2)
	if took, err := g.put(2, "from outside"); err == nil {
		t.Errorf("a boss with a certificate of another authority was let in after %v", took)
	}
	if all := g.names(1); !all["one"] || !all["two"] || all["from outside"] {
		t.Errorf("got %v", all)
	}
}

func TestAcknowledgedSurvivesRestart(t *testing.T) {
	dir := t.TempDir()
	for _, sync := range []string{"interval", "always"} {
		s, err := Open(Config{Dir: dir, Sync: sync, SyncEvery: rarely}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put(t.Context(), sync, []byte("x"), 0); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	s, err := Open(Config{Dir: dir, SyncEvery: rarely}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g := &group{t: t, stores: []*Store{s}}
	if all := g.names(0); len(all) != 2 {
		t.Errorf("got %v", all)
	}
}

func TestBadConfig(t *testing.T) {
	three := []string{"a:1", "b:1", "c:1"}
	for _, cfg := range []Config{
		{},
		{Dir: "x", Sync: "never"},
		{Dir: "x", Peers: []string{"a:1"}},
		{Dir: "x", Listen: "a:1"},
		{Dir: "x", Listen: "a", Name: "n", Token: "t", Peers: three},
		{Dir: "x", Listen: "a:1", Name: "n", Token: "t", Peers: three[:2]},
		{Dir: "x", Listen: "a:1", Peers: three},
		{URL: "nats://x:1", Listen: "a:1", Peers: three},
	} {
		if s, err := Open(cfg, nil); err == nil {
			t.Errorf("%+v was accepted", cfg)
			_ = s.Close()
		}
	}
}
