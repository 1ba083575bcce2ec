package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// Serve serves a handler on a free port of localhost until stop is called.
func Serve(h http.Handler) (address string, stop func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("serve: %w", err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	stop = func() error {
		err := server.Close()
		if e := <-served; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
		return err
	}
	return "http://" + l.Addr().String(), stop, nil
}

// HTTPFloor measures net/http against itself over loopback: one connection,
// closed loop, a handler that answers the same small body that it got.
func HTTPFloor(ctx context.Context, body string, length time.Duration) (Outcome, error) {
	address, stop, err := Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}))
	if err != nil {
		return Outcome{}, err
	}
	out := Closed(ctx, Target{http.MethodPost, address + "/", body}, 1, length/4, length)
	return out, stop()
}

// Proxy is a bare reverse proxy before backends: a request takes one that is
// free, or waits until one is.
type Proxy struct {
	free  chan http.RoundTripper
	proxy *httputil.ReverseProxy
}

// NewProxy returns a proxy before the backends, each of which serves one
// request at a time.
func NewProxy(backends []http.RoundTripper) *Proxy {
	p := &Proxy{free: make(chan http.RoundTripper, len(backends))}
	for _, b := range backends {
		p.free <- b
	}
	anywhere := &url.URL{Scheme: "http", Host: "sandbox"}
	p.proxy = &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(anywhere) },
		Transport: transport{p},
	}
	return p
}

// ServeHTTP passes the request to a free backend.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case b := <-p.free:
		defer func() { p.free <- b }()
		p.proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), backendKey{}, b)))
	case <-r.Context().Done():
	}
}

type backendKey struct{}

// transport sends a request to the backend that ServeHTTP chose for it.
type transport struct{ *Proxy }

// RoundTrip implements http.RoundTripper.
func (transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return r.Context().Value(backendKey{}).(http.RoundTripper).RoundTrip(r)
}
