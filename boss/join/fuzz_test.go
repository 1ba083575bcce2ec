package join

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/lambda"
)

// Whatever says hello: a worker that is let in has a name, an address that
// requests can be sent to, with TLS where that is asked for, and functions that can be.
func FuzzHello(f *testing.F) {
	for _, seed := range []string{
		`{"link":1,"name":"w","instance":"i","url":"http://127.0.0.1:5000","load":{"functions":{"f":{}}}}`, `{"link":1,"name":"w","instance":"i","url":"https://h"}`,
		`{"link":1,"name":"w","instance":"i","url":"http://[::1%25lo]:1"}`, `{"link":1,"name":"","instance":"i","url":"http://h"}`, `{"link":0}`, `{"link":1,"url":"//h"}`,
		`{"link":1,"name":"w","instance":"i","url":"http://u:p@h/x?y#z"}`, `{"link":1,"name":"w","instance":"i","url":"http://h","load":{"functions":{"../f":null}}}`, "null", "[]", "",
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, tls bool) {
		s := &Server{cfg: Config{TLSOnly: tls}}
		r := httptest.NewRequest(http.MethodPost, api.PathJoin, bytes.NewReader(text))
		r.Header.Set("Upgrade", api.UpgradeLink)
		var h api.Hello
		if p := s.read(httptest.NewRecorder(), r, &h); p != nil {
			if p.Status < 400 || p.Status > 499 || p.Detail == "" {
				t.Errorf("refused with %+v", p)
			}
			return
		}
		u, err := url.Parse(h.URL)
		if err != nil || u.Hostname() == "" || u.Scheme != "https" && (u.Scheme != "http" || tls && !config.Loopback(u.Hostname())) {
			t.Errorf("requests would go to %q", h.URL)
		}
		if h.Name == "" || len(h.Name) > 253 || h.Instance == "" || h.Link != api.LinkVersion {
			t.Errorf("let in %+v", h)
		}
		for name := range h.Load.Functions {
			if !lambda.ValidName(name) {
				t.Errorf("function %q", name)
			}
		}
	})
}
