package route

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/open-lambda/open-lambda/boss/fleet"
	"github.com/open-lambda/open-lambda/policies/placement"
	"github.com/open-lambda/open-lambda/src/api"
)

// front serves a handler.
func front(b *testing.B, h http.Handler) *httptest.Server {
	s := httptest.NewServer(h)
	b.Cleanup(s.Close)
	return s
}

func worker(b *testing.B) *httptest.Server {
	return front(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body) // a client that is gone cannot be told so
	}))
}

func router(b *testing.B, url string) *Router {
	f, err := fleet.New(fleet.Config{Placer: placement.NewHash(placement.DefaultBound)})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := f.Join(api.Hello{Link: api.LinkVersion, Name: "w", Instance: "1", URL: url}); err != nil {
		b.Fatal(err)
	}
	r, err := New(Config{Fleet: f})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(r.Close)
	return r
}

// BenchmarkHop is a request through a boss' router, with a small body and with
// one of unknown length, and through a bare proxy. The client and the worker
// behind it are counted too, alike in all.
func BenchmarkHop(b *testing.B) {
	small := func() io.Reader { return strings.NewReader(`{"hello": "world"}`) }
	streamed := func() io.Reader { return io.MultiReader(small()) }
	b.Run("router", func(b *testing.B) { roundTrips(b, router(b, worker(b).URL), small) })
	b.Run("router-streamed", func(b *testing.B) { roundTrips(b, router(b, worker(b).URL), streamed) })
	b.Run("bare", func(b *testing.B) {
		u, err := url.Parse(worker(b).URL)
		if err != nil {
			b.Fatal(err)
		}
		roundTrips(b, &httputil.ReverseProxy{
			Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(u) },
			Transport: &http.Transport{MaxIdleConnsPerHost: 512, DisableCompression: true},
		}, small)
	})
}

func roundTrips(b *testing.B, h http.Handler, body func() io.Reader) {
	s := front(b, h)
	b.ReportAllocs()
	for b.Loop() {
		resp, err := s.Client().Post(s.URL+"/run/echo", "application/json", body())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 {
			b.Fatal(resp.Status, err)
		}
		if err := resp.Body.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
