package replay

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections are pipes, for servers in virtual time.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p <- server
	return client, nil
}

// replayOver replays a workload over real connections of a limited number.
func replayOver(t *testing.T, connections int, handler http.HandlerFunc, w Workload) []Sample {
	t.Helper()
	line := make(pipes)
	server := &http.Server{Handler: handler}
	serving := make(chan struct{})
	go func() {
		defer close(serving)
		_ = server.Serve(line) // it ends with the test
	}()
	client := NewClient(time.Hour, connections)
	client.Transport.(*http.Transport).DialContext = line.dial
	samples, err := (&Replayer{URL: "http://worker", Client: client}).Run(t.Context(), w)
	if err != nil {
		t.Error(err)
	}
	client.CloseIdleConnections()
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	<-serving
	return samples
}

// Whatever holds a request back is in its overhead, wherever it waits: the worker
// that answers knows of none of it.
func TestOverheadHasEveryWait(t *testing.T) {
	tests := map[string]struct {
		connections       int
		before, after     time.Duration // in a proxy that the worker knows nothing of
		overhead, transit []time.Duration
	}{
		"nothing":        {0, 0, 0, []time.Duration{0, 0, 0, 0}, []time.Duration{0, 0, 0, 0}},
		"one connection": {1, 0, 0, []time.Duration{0, 1, 2, 3}, []time.Duration{0, 0, 0, 0}},
		"a slow boss":    {0, 2, 0, []time.Duration{2, 2, 2, 2}, []time.Duration{2, 2, 2, 2}},
		"a slow answer":  {0, 0, 3, []time.Duration{3, 3, 3, 3}, []time.Duration{3, 3, 3, 3}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				samples := replayOver(t, tt.connections, func(w http.ResponseWriter, _ *http.Request) {
					time.Sleep((tt.before + 1) * time.Second)
					w.Header().Set("Server-Timing", "queue;dur=0, init;dur=0, exec;dur=1000")
					w.Header().Set("X-Ol-Start", "warm")
					time.Sleep(tt.after * time.Second)
				}, workload(0, 0, 0, 0))
				u := Summarise(samples)
				want := func(of []time.Duration) Distribution {
					seconds := make([]time.Duration, len(of))
					for i, s := range of {
						seconds[i] = s * time.Second
					}
					return Describe(seconds)
				}
				if u.Errors != 0 || u.Overhead != want(tt.overhead) || u.Transit != want(tt.transit) {
					t.Errorf("%+v", u)
				}
				ratio := 0.0
				for _, s := range tt.overhead {
					ratio += float64(s) / float64(s+1) / 4
				}
				if !near(u.OverheadRatio, ratio) {
					t.Errorf("overhead ratio %v, want %v", u.OverheadRatio, ratio)
				}
			})
		})
	}
}
