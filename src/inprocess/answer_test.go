package inprocess

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/open-lambda/open-lambda/src/api"
)

func TestCall(t *testing.T) {
	for name, tc := range map[string]struct {
		h                  http.HandlerFunc
		status             int
		body               string
		kept               bool
		failed, notStarted bool
	}{
		"nothing": {func(http.ResponseWriter, *http.Request) {}, 200, "", true, false, false},
		"echo": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(103)
			w.WriteHeader(418)
			w.Header().Set("Late", "1")
			_, _ = io.Copy(w, r.Body)
			w.(http.Flusher).Flush()
		}, 418, "body", true, false, false},
		"large":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 11)) }, 200, "", false, false, false},
		"busy":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, 429, "", true, true, false},
		"own 500": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, 500, "", true, true, false},
		"no start": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(api.HeaderNotStarted, "1")
			w.WriteHeader(503)
		}, 503, "", true, true, true},
	} {
		a, err := Call(t.Context(), tc.h, Request{Method: "POST", Target: "/run/f?x=%20", Body: []byte("body")}, 10)
		if err != nil {
			t.Fatal(err)
		}
		body, kept := a.Body()
		if a.Status != tc.status || string(body) != tc.body || kept != tc.kept || a.Failed() != tc.failed || a.NotStarted() != tc.notStarted || a.Header.Get("Late") != "" {
			t.Errorf("%s: got %+v %q %v", name, a, body, kept)
		}
	}
	if _, err := Call(t.Context(), http.NotFoundHandler(), Request{Target: "nonsense"}, 1); err == nil {
		t.Error("a bad target was taken")
	}
}

// A proxy whose answer breaks off says so.
func TestBrokenProxy(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer server.Close()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Call(t.Context(), httputil.NewSingleHostReverseProxy(u), Request{Method: "GET", Target: "/"}, 10000)
	if err != nil || !a.Broken || !a.Failed() || a.NotStarted() {
		t.Errorf("got %+v, %v", a, err)
	}
}
