package bench

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// An open loop sends all that is due however slow the answers are, a closed one
// never more than its tasks at once; both count every answer.
func TestLoadRun(t *testing.T) {
	var busy, most, all atomic.Int64
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all.Add(1)
		now := busy.Add(1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		defer busy.Add(-1)
		if r.URL.Path == "/held" {
			if now == 5 {
				close(release) // all five of the open loop are here
			}
			<-release
		}
		if r.URL.Path == "/fails" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer server.Close()
	target := func(path string) func() Target {
		return func() Target { return Target{http.MethodPost, server.URL + path, "null"} }
	}
	out := Load{Next: target("/held"), Length: time.Second / 10, Rate: 50}.Run(t.Context())
	if len(out.Latencies) != 5 || out.Failures != 0 {
		t.Errorf("open loop: %d answers, %d failures", len(out.Latencies), out.Failures)
	}
	all.Store(0)
	most.Store(0)
	var told atomic.Int64
	out = Load{Next: target("/"), Length: 50 * time.Millisecond, Tasks: 3, Each: func(error) { told.Add(1) }}.Run(t.Context())
	if n := int64(len(out.Latencies)); n == 0 || n != all.Load() || n != told.Load() || most.Load() > 3 {
		t.Errorf("closed loop: %d answers to %d requests, %d told, %d at once", n, all.Load(), told.Load(), most.Load())
	}
	out = Load{Next: target("/fails"), Length: 20 * time.Millisecond, Tasks: 1}.Run(t.Context())
	if out.Failures == 0 || len(out.Latencies) != 0 {
		t.Errorf("failures: %+v", out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out = (Load{Next: target("/"), Length: time.Hour, Rate: 1}).Run(ctx); len(out.Latencies) != 0 {
		t.Errorf("after the end: %+v", out)
	}
}
