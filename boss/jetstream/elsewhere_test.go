package jetstream

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/open-lambda/open-lambda/boss/registry"
)

// startNATS runs a server that knows nothing of bosses.
func startNATS(t *testing.T, dir string, port int) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server is not ready")
	}
	return s
}

// Two bosses on one NATS elsewhere; it goes away and comes back: writes fail
// meanwhile, and nothing is lost.
func TestNATSElsewhereGoesAndComesBack(t *testing.T) {
	dir := t.TempDir()
	nats := startNATS(t, dir, server.RANDOM_PORT)
	g := &group{t: t, stores: make([]*Store, 2)}
	for i := range g.stores {
		s, err := Open(Config{URL: nats.ClientURL(), Token: "of the cluster"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		g.stores[i] = s
	}
	g.eventually(0, "one")
	if all := g.names(1); !all["one"] {
		t.Errorf("the other boss sees %v", all)
	}
	at := nats.Addr()
	nats.Shutdown()
	nats.WaitForShutdown()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := g.stores[1].Put(ctx, "lost", []byte("x"), registry.Any); err == nil {
		t.Error("a write was acknowledged by nobody")
	}
	startNATS(t, dir, at.(*net.TCPAddr).Port)
	t.Logf("writes go on after %v", g.eventually(1, "two").Round(time.Millisecond))
	if all := g.names(0); !all["one"] || !all["two"] {
		t.Errorf("of what was acknowledged, this is left: %v", all)
	}
}

// A boss starts while its NATS is not there yet.
func TestNATSElsewhereComesLater(t *testing.T) {
	addr := freeAddrs(t, 1)[0]
	s, err := Open(Config{URL: "nats://" + addr}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g := &group{t: t, stores: []*Store{s}}
	startNATS(t, t.TempDir(), tcpAddr(t, addr).Port)
	g.eventually(0, "one")
}

func tcpAddr(t *testing.T, addr string) *net.TCPAddr {
	t.Helper()
	a, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
