package boss_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/boss"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/emulate"
)

// Workers and clients reach a boss over TLS, with a certificate of their own
// where it asks for one.
func TestTLS(t *testing.T) {
	pki := httptest.NewTLSServer(nil) // for its certificate
	defer pki.Close()
	roots := x509.NewCertPool()
	roots.AddCert(pki.Certificate())
	cert := pki.TLS.Certificates[0]
	for _, mutual := range []bool{false, true} {
		server := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"http/1.1"}}
		mine := &tls.Config{RootCAs: roots}
		if mutual {
			server.ClientAuth = tls.RequireAnyClientCert
			mine.Certificates = []tls.Certificate{cert}
		}
		b := startBoss(t, boss.Config{Token: "secret", Listener: tls.NewListener(listen(t, "127.0.0.1:0"), server)})
		url := "https://" + b.Addr().String()
		w, err := emulate.Start(emulate.Config{Name: "w", Bosses: []string{url}, Token: "secret", TLS: mine})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Kill)
		c := &http.Client{Transport: &http.Transport{TLSClientConfig: mine.Clone()}}
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
		stranger := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
		if resp, err := stranger.Get(url + api.PathStatus); err == nil {
			_ = resp.Body.Close()
			t.Error("a client without a certificate was answered")
		}
	}
}
