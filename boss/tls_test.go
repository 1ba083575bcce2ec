package boss_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/boss"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/emulate"
	"github.com/open-lambda/open-lambda/src/emulate/pki"
)

func authority(t *testing.T) *pki.Authority {
	t.Helper()
	a, err := pki.New()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// endpoint is what a process of a cluster serves with and dials with; mutual:
// it asks for certificates and shows its own.
func endpoint(t *testing.T, a *pki.Authority, mutual bool) (server, client *tls.Config) {
	t.Helper()
	pair, err := a.Issue("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	server = &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"http/1.1"}}
	client = &tls.Config{RootCAs: a.Pool()}
	if mutual {
		server.ClientAuth, server.ClientCAs = tls.RequireAndVerifyClientCert, a.Pool()
		client.Certificates = []tls.Certificate{pair}
	}
	return server, client
}

// Clients reach a boss, workers a boss, and the boss workers over TLS, each with
// a certificate of its own where it is asked for one.
func TestTLS(t *testing.T) {
	for _, mutual := range []bool{false, true} {
		a := authority(t)
		atBoss, fromBoss := endpoint(t, a, mutual)
		atWorker, fromWorker := endpoint(t, a, mutual)
		_, mine := endpoint(t, a, mutual)
		b := startBoss(t, boss.Config{
			Token: "secret", TLS: fromBoss, TLSOnly: true, Listener: tls.NewListener(listen(t, "127.0.0.1:0"), atBoss),
		})
		url := "https://" + b.Addr().String()
		w, err := emulate.Start(emulate.Config{Name: "w", Bosses: []string{url}, Token: "secret", TLS: fromWorker, Serve: atWorker})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Kill)
		c := &http.Client{Transport: &http.Transport{TLSClientConfig: mine}}
		t.Cleanup(c.CloseIdleConnections)
		await(t, "an answer over TLS", func() bool {
			resp, err := c.Post(url+api.PathRun+"echo", "text/plain", strings.NewReader("x"))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			return err == nil && resp.StatusCode == 200 && string(body) == "x"
		})
		if !mutual {
			continue
		}
		stranger := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.Pool()}}}
		for who, at := range map[string]string{"boss": url, "worker": w.URL()} {
			if resp, err := stranger.Get(at + api.PathStatus); err == nil {
				_ = resp.Body.Close()
				t.Errorf("the %s answered a client without a certificate", who)
			}
		}
	}
}

// A boss does not send anything to a worker with a certificate of another
// authority: it is as if the worker could not be reached.
func TestWorkerOfAnotherAuthority(t *testing.T) {
	_, fromBoss := endpoint(t, authority(t), false)
	atWorker, _ := endpoint(t, authority(t), false)
	b := startBoss(t, boss.Config{TLS: fromBoss})
	workers := startWorkers(t, 1, emulate.Config{Serve: atWorker, Record: true}, b)
	resp, body := get(t, http.MethodPost, b.url+"/run/echo", strings.NewReader("x"), nil)
	if resp.StatusCode != 503 || resp.Header.Get(api.HeaderNotStarted) == "" {
		t.Errorf("got %s: %s", resp.Status, body)
	}
	if n := len(ran(workers)); n != 0 {
		t.Errorf("it ran %d times", n)
	}
}

// Without TLS a worker of another machine is refused, one of this machine is
// not, and a boss that was told so takes both.
func TestTLSOnly(t *testing.T) {
	join := http.Header{"Upgrade": {api.UpgradeLink}, "Connection": {"Upgrade"}}
	strict := startBoss(t, boss.Config{TLSOnly: true})
	hello := `{"link":1,"name":"far","instance":"x","url":"http://192.0.2.1:5000"}`
	resp, body := get(t, http.MethodPost, strict.url+api.PathJoin, strings.NewReader(hello), join)
	if resp.StatusCode != 403 || reason(t, body) != "tls-required" {
		t.Errorf("got %s: %s", resp.Status, body)
	}
	startWorkers(t, 1, emulate.Config{}, strict)
}
