package worker

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/wire"
)

// socketProvider makes "sandboxes" that are one HTTP server on a unix socket.
type socketProvider struct {
	server *http.Server
	path   string
}

func (p *socketProvider) dial(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "unix", p.path)
}

func (p *socketProvider) Create(context.Context, SandboxSpec) (Sandbox, error) {
	return socketSandbox{wire.New(p.dial)}, nil
}

func (p *socketProvider) Close(context.Context) error { return p.server.Close() }

type socketSandbox struct{ *wire.Transport }

func (s socketSandbox) SetFrozen(bool) error          { return nil }
func (s socketSandbox) Destroy(context.Context) error { return s.Close() }
func (s socketSandbox) Info() SandboxInfo             { return SandboxInfo{Origin: "fresh"} }

// BenchmarkWarm compares a warm invocation through the worker with the bare
// reverse proxy of the standard library in front of the same server, and with
// that server alone.
func BenchmarkWarm(b *testing.B) {
	path := filepath.Join(b.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		b.Fatal(err)
	}
	p := &socketProvider{path: path, server: &http.Server{Handler: http.HandlerFunc(hello), ReadHeaderTimeout: time.Minute}}
	go func() { _ = p.server.Serve(l) }() // ends with the provider
	dir := b.TempDir()
	write(b, filepath.Join(dir, "registry/f/f.py"), "code")
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	w, err := New(Config{Settings: config.New(dir, 4000), Provider: p, Listener: front})
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- w.Run(b.Context()) }()
	target, _ := url.Parse("http://sandbox")
	rp := httputil.NewSingleHostReverseProxy(target)
	rp.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return p.dial(ctx) }, MaxIdleConnsPerHost: 64}
	rp.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	proxy := httptest.NewServer(rp)
	direct := httptest.NewServer(http.HandlerFunc(hello))
	for _, way := range []struct{ name, base string }{
		{"direct", direct.URL}, {"reverseproxy", proxy.URL}, {"worker", "http://" + w.Addr().String()},
	} {
		b.Run(way.name+"/1", func(b *testing.B) { load(b, way.base+"/run/f", 1) })
		b.Run(way.name+"/8", func(b *testing.B) { load(b, way.base+"/run/f", 4) })
	}
	proxy.Close()
	direct.Close()
	if err := w.Shutdown(context.Background()); err != nil || <-ended != nil {
		b.Error(err)
	}
}

func load(b *testing.B, url string, clientsPerCore int) {
	tr := &http.Transport{MaxIdleConnsPerHost: 64}
	defer tr.CloseIdleConnections()
	c := &http.Client{Transport: tr}
	one := func() {
		resp, err := c.Get(url) //nolint:noctx // a benchmark has no deadline
		if err != nil {
			b.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			b.Error(resp.Status)
		}
	}
	one()
	b.ReportAllocs()
	before := cpuTime(b)
	defer func() {
		// All of client, worker and server: comparable on a busy machine.
		b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-us/op")
	}()
	if clientsPerCore == 1 {
		for b.Loop() {
			one()
		}
		return
	}
	b.SetParallelism(clientsPerCore)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			one()
		}
	})
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
