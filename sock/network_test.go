package sock

import (
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/sock/nat"
	"github.com/open-lambda/open-lambda/sock/nat/nattest"
)

// dialer tries to reach addresses, and names what it finds.
const dialer = `
import socket
from concurrent.futures import ThreadPoolExecutor
def fetch(address):
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=1) as s:
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            data = b""
            while True:
                more = s.recv(4096)
                if not more:
                    return data.rpartition(b"\n")[2].decode()
                data += more
    except OSError:
        return ""

def links():
    return sorted(n for _, n in socket.if_nameindex())

def raw():
    try:
        socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    except OSError as e:
        return e.errno
    return 0

def own():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("203.0.113.10", 9))  # sends nothing
        except OSError:
            return ""
        return s.getsockname()[0]

def addresses():
    with open("/proc/net/if_inet6") as f:
        return [line.split()[-1] for line in f]

def f(event):
    names = []
    for name in event.get("names") or ():
        try:
            names.append(socket.gethostbyname(name))
        except OSError as e:
            names.append("")
    ask = event.get("ask") or ()
    with ThreadPoolExecutor(6) as pool:
        found = dict(zip(ask, pool.map(fetch, ask)))
    return {"found": found, "names": names, "links": links(), "raw": raw(),
            "own": own(), "six": addresses()}
`

// findings are a dialer's answer.
type findings struct {
	Found map[string]string
	Names []string
	Links []string
	Raw   int
	Own   string // its address
	Six   []string
}

func dial(t *testing.T, s *Sandbox, names []string, ask ...string) findings {
	t.Helper()
	body, err := json.Marshal(map[string]any{"names": names, "ask": ask})
	if err != nil {
		t.Fatal(err)
	}
	status, answer := call(t, s, string(body))
	var f findings
	if err := json.Unmarshal([]byte(answer), &f); status != 200 || err != nil {
		t.Fatalf("dialer says %d %s, %v", status, answer, err)
	}
	return f
}

// natSettings are of a provider on a test's own host.
func natSettings(t *testing.T) Config {
	cfg := settings(t)
	cfg.Network = NetworkNAT
	return cfg
}

// listenOnHost serves HTTP on every address of the host, as a worker with
// worker_url=0.0.0.0 does.
func listenOnHost(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	nattest.Serve(t, l)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// A sandbox with a network of its own reaches the world, from whatever origin,
// and nothing of the host or of other sandboxes.
func TestNetworkNAT(t *testing.T) {
	nattest.Run(t, func(t *testing.T) {
		port := listenOnHost(t)
		for i := range 6 {
			cfg := natSettings(t)
			cfg.UserNS = i < 3
			cfg.Zygote, cfg.Pool = i%3 != 0, i%3/2*2
			origin := []string{Fresh, FromZygote, FromPool}[i%3]
			t.Run(fmt.Sprintf("%s,userns=%t", origin, cfg.UserNS), func(t *testing.T) {
				p := open(t, sockKind(), cfg)
				a, b := create(t, p, code(t, "a", dialer)), create(t, p, code(t, "b", dialer))
				if got := a.Info().Origin; got != origin {
					t.Errorf("origin is %s", got)
				}
				checkNAT(t, a, b, port)
			})
		}
	})
}

func checkNAT(t *testing.T, a, b *Sandbox, port string) {
	t.Helper()
	dark := []string{nattest.Metadata + ":80", nattest.Host + ":" + port, "127.0.0.1:" + port}
	for _, s := range []*Sandbox{a, b} {
		own, err := netip.ParseAddr(dial(t, s, nil).Own)
		if err != nil {
			t.Fatal(err)
		}
		dark = append(dark, own.Prev().String()+":"+port) // the host's end of the link
	}
	got := dial(t, a, nil, append(dark, nattest.Internet+":80")...)
	for address, text := range got.Found {
		want := ""
		if address == nattest.Internet+":80" {
			want = nattest.Host
		}
		if text != want {
			t.Errorf("%s answers %q, want %q", address, text, want)
		}
	}
	if fmt.Sprint(got.Links) != "[eth0 lo]" || got.Raw == 0 || len(got.Six) > 0 {
		t.Errorf("links %v, raw socket errno %d, IPv6 on %v", got.Links, got.Raw, got.Six)
	}
}

// Names are looked up at the host's resolvers.
func TestNamesThroughNAT(t *testing.T) {
	nattest.Run(t, func(t *testing.T) {
		standIn(t)
		if got, want := nat.Resolver(), "nameserver "+nattest.Resolver+"\n"; got != want {
			t.Errorf("resolver is %q, want %q", got, want)
		}
		looksUp(t, create(t, open(t, sockKind(), natSettings(t)), code(t, "names", dialer)))
	})
}

// standIn puts another resolv.conf before this machine's, which the test's host
// has too.
func standIn(t *testing.T) {
	t.Helper()
	if err := nattest.HideFile("/etc/resolv.conf", "nameserver 127.0.0.53\nnameserver "+nattest.Resolver+"\n"); err != nil {
		t.Skip("NOT RUN: ", err)
	}
}

func looksUp(t *testing.T, s *Sandbox) {
	t.Helper()
	if got := dial(t, s, []string{"api.example.com"}); fmt.Sprint(got.Names) != "["+nattest.Internet+"]" {
		t.Errorf("names are %q", got.Names)
	}
}

// A lambda may ask for another network than its provider's.
func TestOtherNetworkThanTheProviders(t *testing.T) {
	nattest.Run(t, func(t *testing.T) { otherNetworks(t, sockKind()) })
}

func otherNetworks(t *testing.T, kind Kind) {
	port := listenOnHost(t)
	for _, own := range []string{NetworkNone, NetworkNAT, NetworkHost} {
		t.Run(own, func(t *testing.T) {
			cfg := natSettings(t)
			cfg.Network = own
			p := open(t, kind, cfg)
			for _, want := range []string{NetworkNone, NetworkNAT, NetworkHost} {
				askFor(t, p, want, port)
			}
		})
	}
}

// askFor makes a sandbox with a network and looks what it reaches.
func askFor(t *testing.T, p Maker, want, port string) {
	t.Helper()
	spec := code(t, "asks-"+want, dialer)
	spec.Network = want
	s := create(t, p, spec)
	got := dial(t, s, nil, nattest.Internet+":80", "127.0.0.1:"+port)
	links := map[string]string{NetworkNone: "[lo]", NetworkNAT: "[eth0 lo]", NetworkHost: "up0"}[want]
	if !strings.Contains(fmt.Sprint(got.Links), links) {
		t.Errorf("network %s has links %v", want, got.Links)
	}
	if world := got.Found[nattest.Internet+":80"] != ""; world != (want != NetworkNone) {
		t.Errorf("network %s reaches the world: %t", want, world)
	}
	if host := got.Found["127.0.0.1:"+port] != ""; host != (want == NetworkHost) {
		t.Errorf("network %s reaches the host: %t", want, host)
	}
	t.Log(want, "came from", s.Info().Origin)
}

// open makes a provider of a kind and waits until it is ready.
func open(t *testing.T, kind Kind, cfg Config) Maker {
	t.Helper()
	p, err := kind.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	CloseAfter(t, p)
	warm(t, p)
	return p
}

// NetworkNATOf tests that sandboxes of a kind reach the world and nothing of the
// host or of each other, look names up, and may ask for another network. It
// must be called in a host of its own, see nattest.Run.
func NetworkNATOf(t *testing.T, kind Kind) {
	standIn(t)
	t.Run("nat", func(t *testing.T) {
		p := open(t, kind, natSettings(t))
		a, b := create(t, p, code(t, "a", dialer)), create(t, p, code(t, "b", dialer))
		checkNAT(t, a, b, listenOnHost(t))
		looksUp(t, a)
	})
	t.Run("others", func(t *testing.T) { otherNetworks(t, kind) })
}

// Namespaces outlive sandboxes, links and rules do not outlive the provider.
func TestNetworksAreCleanedUp(t *testing.T) {
	nattest.Run(t, func(t *testing.T) {
		before := fmt.Sprint(nattest.Links(t))
		cfg := natSettings(t)
		p, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		warm(t, p)
		for i := range 10 {
			s := create(t, p, code(t, fmt.Sprintf("s-%d", i), dialer))
			if got := dial(t, s, nil, nattest.Internet+":80"); got.Found[nattest.Internet+":80"] == "" {
				t.Fatalf("sandbox %d has no way out", i)
			}
			destroy(t, s)
		}
		if got := len(nattest.Links(t)); got > 30 {
			t.Errorf("%d links after ten sandboxes", got)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if after := fmt.Sprint(nattest.Links(t)); after != before {
			t.Errorf("after closing there are %s, before %s", after, before)
		}
	})
}

// What is left of a killed worker's network goes with the next start.
func TestNetworksAfterKilledOwner(t *testing.T) {
	nattest.Run(t, func(t *testing.T) {
		before := fmt.Sprint(nattest.Links(t))
		dir := t.TempDir()
		writeCode(t, dir+"/code")
		if err := os.Setenv(ownerNetwork, NetworkNAT); err != nil {
			t.Fatal(err)
		}
		cmd := startOwner(t, sockKind(), dir)
		if during := fmt.Sprint(nattest.Links(t)); during == before {
			t.Error("the owner has no links")
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if err := Clean(t.Context(), ownerOf(dir), dir+"/state"); err != nil {
			t.Error(err)
		}
		if after := fmt.Sprint(nattest.Links(t)); after != before {
			t.Errorf("after cleaning there are %s, before %s", after, before)
		}
	})
}
