package main

import (
	"crypto/tls"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/open-lambda/open-lambda/src/config"
)

// documented finds the options of docs/cluster.md for one of three machines.
func documented(t *testing.T, variable string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^` + variable + `=(.*)$`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("the page does not set %s", variable)
	}
	return strings.NewReplacer("$ME", "10.0.0.1", "$NAME", "1").Replace(string(found[1]))
}

// What the page tells people to write is a configuration that this program
// takes, and one that needs no --insecure.
func TestDocumentedConfiguration(t *testing.T) {
	b, err := config.LoadBoss(config.NewBoss(t.TempDir()), config.Sources{Overrides: documented(t, "OL_BOSS_OPTIONS")})
	if err != nil {
		t.Fatal(err)
	}
	if err := requireProtection("start boss", b.BossURL, "token", "token_file", b.TLSCert, "tls_cert", b.Insecure); err != nil {
		t.Error(err)
	}
	if n := len(b.Store.PeerList()); n != 3 || b.Store.Name != "boss1" || b.CAFile == "" || b.TokenFile == "" {
		t.Errorf("got %+v", b)
	}
	w, err := loadConfig(t.TempDir(), config.Sources{Overrides: documented(t, "OL_WORKER_OPTIONS")})
	if err != nil {
		t.Fatal(err)
	}
	cl := w.Cluster
	if err := requireProtection("join cluster", w.WorkerURL, "token", "cluster.token_file", cl.TLSCert, "cluster.tls_cert", cl.Insecure); err != nil {
		t.Error(err)
	}
	if strings.Count(cl.Bosses, "https://") != 3 || cl.Name != "node1" || w.WorkerPort == b.BossPort {
		t.Errorf("got %+v", cl)
	}
}

// The units say what the page says of them, and systemd understands them.
func TestUnits(t *testing.T) {
	const dir = "../../../deploy/"
	for unit, wanted := range map[string][]string{
		"openlambda-boss.service":   {"Type=notify", "WatchdogSec=30", "KillSignal=SIGINT", "User=openlambda", " boss up -p /var/lib/openlambda/boss -o ${OL_BOSS_OPTIONS}"},
		"openlambda-worker.service": {"Type=notify", "WatchdogSec=30", "KillSignal=SIGINT", "Delegate=yes", " worker up -p /var/lib/openlambda/worker -o ${OL_WORKER_OPTIONS}"},
	} {
		text, err := os.ReadFile(dir + unit)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range wanted {
			if !strings.Contains(string(text), w) {
				t.Errorf("%s lacks %q", unit, w)
			}
		}
		analyze, err := exec.LookPath("systemd-analyze")
		if err != nil {
			t.Log("systemd-analyze is not here: the unit's syntax is not checked")
			continue
		}
		// Where the program is not installed the unit would be refused for that.
		copied := filepath.Join(t.TempDir(), unit)
		if err := os.WriteFile(copied, []byte(strings.ReplaceAll(string(text), "/usr/local/bin/ol", "/bin/true")), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(analyze, "verify", copied).CombinedOutput(); err != nil || strings.Contains(string(out), unit+":") {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// The certificates of the script are good for both ends of a connection.
func TestCertificatesScript(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("not run: openssl is not installed")
	}
	script, err := filepath.Abs("../../../deploy/certificates.sh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, hosts := range [][]string{{"127.0.0.1"}, {"boss.example"}} { // the second time with the authority of the first
		cmd := exec.Command(script, hosts...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	server, err := serverTLS(at("127.0.0.1.pem"), at("127.0.0.1.key"), at("ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", server)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { greet(l) })
	defer wg.Wait()
	defer l.Close()
	client, err := clientTLS(at("ca.pem"), at("boss.example.pem"), at("boss.example.key"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := tls.Dial("tcp", l.Addr().String(), client)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if text, err := io.ReadAll(c); err != nil || string(text) != "hello" {
		t.Errorf("got %q, %v", text, err)
	}
	if own, err := ownTLS(at("boss.example.pem"), at("boss.example.key")); err != nil {
		t.Error(err)
	} else if _, err := tls.Dial("tcp", l.Addr().String(), own); err == nil || !strings.Contains(err.Error(), "another one than that in") {
		t.Errorf("a certificate that is not the process' own was taken for it: %v", err)
	}
}

// greet answers connections until the listener is closed.
func greet(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, "hello") // whoever does not trust us has left
		_ = c.Close()
	}
}
