package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/open-lambda/open-lambda/src/trace"
)

// serverFunc answers requests without a network, so that time can be virtual.
type serverFunc func(*http.Request) (*http.Response, error)

func (f serverFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int, start, timing, body string) *http.Response {
	h := http.Header{}
	h.Set("X-Ol-Start", start)
	h.Set("Server-Timing", timing)
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func workload(at ...time.Duration) Workload {
	w := Workload{Lambdas: []Lambda{{Name: "f00", MemMB: 100, Init: time.Second}}}
	for _, t := range at {
		w.Requests = append(w.Requests, Request{At: t, Exec: 250 * time.Millisecond})
	}
	return w
}

// A slow answer must not hold back the requests behind it.
func TestRunIsOpenLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var n atomic.Int64
		server := serverFunc(func(r *http.Request) (*http.Response, error) {
			if got := time.Since(begin); got != time.Duration(n.Add(1)-1)*time.Second {
				t.Errorf("request %d sent at %v", n.Load(), got)
			}
			if body, _ := io.ReadAll(r.Body); string(body) != `{"ms": 250.000}` || r.URL.Path != "/run/f00" {
				t.Errorf("sent %s to %s", body, r.URL.Path)
			}
			time.Sleep(10 * time.Second)
			return answer(200, "cold", "queue;dur=1500, init;dur=1000, exec;dur=250.5", "{}"), nil
		})
		r := &Replayer{URL: "http://worker", Client: &http.Client{Transport: server}}
		samples, err := r.Run(t.Context(), workload(0, time.Second, 2*time.Second))
		if err != nil || len(samples) != 3 {
			t.Fatalf("%d samples, %v", len(samples), err)
		}
		for _, s := range samples {
			if s.Err != nil || s.Latency != 10*time.Second || s.Queue != 1500*time.Millisecond || s.Exec != 250500*time.Microsecond || s.Start != "cold" {
				t.Errorf("sample %+v", s)
			}
		}
		if elapsed := time.Since(begin); elapsed != 12*time.Second {
			t.Errorf("took %v", elapsed)
		}
	})
}

func TestRunReportsEveryFate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		server := serverFunc(func(*http.Request) (*http.Response, error) {
			switch n.Add(1) {
			case 1:
				return nil, errors.New("connection refused")
			case 2:
				return answer(429, "", "", "queue full\nmore"), nil
			}
			return answer(200, "warm", "", "{}"), nil
		})
		var last Progress
		r := &Replayer{URL: "http://worker", Client: &http.Client{Transport: server}, Progress: func(p Progress) { last = p }}
		samples, err := r.Run(t.Context(), workload(0, time.Second, 2*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		if samples[0].Err == nil || samples[0].Status != 0 || samples[1].Status != 429 || !strings.Contains(fmt.Sprint(samples[1].Err), "429: queue full") || samples[2].Err != nil {
			t.Errorf("samples %+v", samples)
		}
		if last.Done != 3 || last.Errors != 2 || last.Warm != 1 || last.InFlight != 0 {
			t.Errorf("last progress %+v", last)
		}
	})
}

func TestRunStopsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := serverFunc(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		r := &Replayer{URL: "http://worker", Client: &http.Client{Transport: server}}
		samples, err := r.Run(ctx, workload(0, time.Second, 2*time.Second))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if !errors.Is(samples[0].Err, context.DeadlineExceeded) || !errors.Is(samples[2].Err, ErrNotSent) {
			t.Errorf("samples %+v", samples)
		}
	})
}

func TestTimings(t *testing.T) {
	tests := map[string]map[string]time.Duration{
		"":                                 {},
		"queue;dur=1.5, exec;dur=20":       {"queue": 1500 * time.Microsecond, "exec": 20 * time.Millisecond},
		`queue;desc="in line";dur="2"`:     {"queue": 2 * time.Millisecond},
		"queue;dur=x, init, exec;dur=-1, ": {},
		"queue;dur=Inf, init;dur=NaN, exec;dur=1e300": {},
	}
	for header, want := range tests {
		if diff := cmp.Diff(want, timings(header)); diff != "" {
			t.Errorf("%q: %s", header, diff)
		}
	}
}

func TestSummarise(t *testing.T) {
	ms := time.Millisecond
	samples := []Sample{
		{Start: "warm", Exec: 100 * ms, Latency: 101 * ms},
		{Start: "cold", Queue: 90 * ms, Late: 10 * ms, Exec: 100 * ms, Latency: 202 * ms},
		{Start: "delayed", Queue: 300 * ms, Exec: 100 * ms, Latency: 405 * ms},
		{Start: "warm", Late: 10 * ms, Connected: 475 * ms, Exec: 100 * ms, Latency: 600 * ms},
		{Err: errors.New("lost"), Latency: time.Hour},
	}
	got := Summarise(samples)
	part := func(overhead, all float64) float64 { return overhead / all }
	want := Summary{
		Requests: 5, Cold: 1, Delayed: 1, Warm: 2, Errors: 1,
		Overhead:      Distribution{4, 908 * ms / 4, 102 * ms, 500 * ms, 500 * ms},
		OverheadRatio: (part(1, 101) + part(102, 202) + part(305, 405) + part(500, 600)) / 4,
		Transit:       Distribution{4, 33 * ms / 4, 2 * ms, 25 * ms, 25 * ms},
		Latency:       Distribution{4, 327 * ms, 202 * ms, 600 * ms, 600 * ms},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := Summarise(nil); got != (Summary{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestScale(t *testing.T) {
	functions := []trace.Function{{ID: "x", MemMB: 100.4}}
	invocations := []trace.Invocation{{At: time.Second, Exec: 100 * time.Millisecond}}
	got := Scale(functions, invocations, 2)
	want := Workload{
		Lambdas:  []Lambda{{Name: "f00", MemMB: 100, Init: 341360 * time.Microsecond, Exec: 200 * time.Millisecond}},
		Requests: []Request{{At: 2 * time.Second, Exec: 200 * time.Millisecond}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFromTraceKeepsTheSpreadOfStarts(t *testing.T) {
	w := FromTrace([]trace.Profile{{MB: 100, Cold: time.Second, ColdSigma: 0.341}}, []trace.Invocation{{}}, "f%d", 2)
	want := []Lambda{{Name: "f0", MemMB: 100, Init: 2 * time.Second, InitSigma: 0.341}}
	if diff := cmp.Diff(want, w.Lambdas); diff != "" {
		t.Error(diff)
	}
}

func TestCheckSaysWhatToChange(t *testing.T) {
	m := Machine{Cores: 2, ColdPerSec: 20, RequestCPU: time.Millisecond, StartCPU: 10 * time.Millisecond, InitCPUShare: 1}
	tests := map[string]struct {
		p    Prediction
		want string
	}{
		"fits":          {Prediction{Span: time.Minute, Requests: 1000, Starts: 100, Init: 20 * time.Second}, ""},
		"processor":     {Prediction{Span: time.Minute, Requests: 1000, Starts: 100, Init: 120 * time.Second}, "processor use (share) would be 1.02"},
		"cold starts":   {Prediction{Span: time.Minute, Requests: 1000, Starts: 900}, "cold starts per second would be 15.00, at most 10.00 is sound; use fewer functions, or stretch time 1.5 times"},
		"empty is fine": {Prediction{}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := tt.p.Check(m)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
