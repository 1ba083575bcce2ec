package bench

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBarMet(t *testing.T) {
	tests := map[string]struct {
		bar  Bar
		want bool
	}{
		"below":       {AtMost("a", 1, 2, "x"), true},
		"at":          {AtMost("a", 2, 2, "x"), true},
		"above":       {AtMost("a", 3, 2, "x"), false},
		"fast":        {AtLeast("a", 3, 2, "x"), true},
		"slow":        {AtLeast("a", 1, 2, "x"), false},
		"failed":      {Failed("a", errors.New("gone")), false},
		"bound below": {AtMost("a", 3, 2, "x").Between(1.9, 4), true},
		"bound above": {AtMost("a", 3, 2, "x").Between(2.1, 4), false},
		"bounded":     {AtLeast("a", 1, 2, "x").Between(0.5, 2.5), true},
		"short":       {AtLeast("a", 1, 2, "x").Between(0.5, 1.5), false},
		"by naught":   {AtMost("a", Ratio(time.Second, 0), 2, "x"), false},
	}
	for name, tt := range tests {
		if got := tt.bar.Met(); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWriteNamesMisses(t *testing.T) {
	var out strings.Builder
	bars := []Bar{
		AtMost("warm p50", 2.5, 3, "x").With(Times{10, 150 * time.Microsecond, 12 * time.Millisecond}, "against nothing"),
		AtLeast("rate", 0.5, 0.8, "x"),
		Failed("burst", errors.New("refused")),
	}
	if err := Write(&out, bars); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ok    warm p50", "2.50 x", "<= 3.00", "150µs", "12ms", "MISS  rate", "not measured: refused"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("table lacks %q:\n%s", want, out.String())
		}
	}
	if Missed(bars) != 2 {
		t.Errorf("%d missed", Missed(bars))
	}
}

func TestLoads(t *testing.T) {
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1)%5 == 0 {
			http.Error(w, "fifth", http.StatusTeapot)
		}
	}))
	defer server.Close()
	target := Target{http.MethodPost, server.URL, "{}"}
	ten := make([]Target, 10)
	for i := range ten {
		ten[i] = target
	}
	for name, out := range map[string]Outcome{
		"burst":  Burst(t.Context(), ten),
		"spread": Spread(t.Context(), ten, 3),
	} {
		if len(out.Latencies) != 8 || out.Failures != 2 || !strings.Contains(out.FirstFail.Error(), "fifth") {
			t.Errorf("%s: %d good, %d failed, %v", name, len(out.Latencies), out.Failures, out.FirstFail)
		}
	}
	if out := Closed(t.Context(), target, 2, time.Millisecond, 20*time.Millisecond); len(out.Latencies) == 0 || out.Rate() <= 0 {
		t.Errorf("closed loop got nothing: %+v", out)
	}
}

func TestProxyUsesEveryBackendOnce(t *testing.T) {
	var busy, most atomic.Int64
	backend := roundTripper(func(r *http.Request) (*http.Response, error) {
		most.Store(max(most.Load(), busy.Add(1)))
		defer busy.Add(-1)
		rec := httptest.NewRecorder()
		rec.WriteString("answer of " + r.URL.Path)
		return rec.Result(), nil
	})
	address, stop, err := Serve(NewProxy([]http.RoundTripper{backend, backend}))
	if err != nil {
		t.Fatal(err)
	}
	targets := make([]Target, 50)
	for i := range targets {
		targets[i] = Target{http.MethodPost, address + "/x", "{}"}
	}
	if out := Burst(t.Context(), targets); len(out.Latencies) != 50 {
		t.Errorf("%d answered: %v", len(out.Latencies), out.FirstFail)
	}
	if most.Load() > 2 {
		t.Errorf("%d requests at once on 2 backends", most.Load())
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestHTTPFloor(t *testing.T) {
	out, err := HTTPFloor(t.Context(), "{}", 20*time.Millisecond)
	if err != nil || len(out.Latencies) == 0 || out.Failures > 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

// The figures are the bench's business; that they come about is the test's.
func TestEngineMeasurements(t *testing.T) {
	d, err := EngineStep("cidre", 100, 10)
	if err != nil || d.Times.N != 10 {
		t.Errorf("step: %+v, %v", d, err)
	}
	times, err := EngineEvict("cidre", 1000, 50)
	if err != nil || times.N == 0 {
		t.Errorf("evict: %+v, %v", times, err)
	}
}

func TestFingerprint(t *testing.T) {
	f := TakeFingerprint()
	if f.Cores < 1 || f.Kernel == "" || f.SpinMS <= 0 {
		t.Errorf("%+v", f)
	}
}

func TestRawUnix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	status := http.StatusOK
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		_, _ = io.Copy(w, r.Body)
	})}}
	server.Start()
	defer server.Close()
	connect := func() net.Conn {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	times, err := RawUnix(connect(), `{"a": 1}`, 20)
	if err != nil || len(times) != 20 {
		t.Errorf("%d times, %v", len(times), err)
	}
	status = http.StatusTeapot
	if _, err := RawUnix(connect(), "{}", 1); err == nil || !strings.Contains(err.Error(), "418") {
		t.Errorf("bad status: %v", err)
	}
}
