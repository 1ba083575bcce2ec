package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/replay"
)

// measured is a replay that has ended, of which nothing was written.
func measured(t *testing.T, out *strings.Builder) *replayRun {
	t.Helper()
	s := streams{out: out, err: io.Discard, dir: t.TempDir()}
	files, err := newOutputs(s, "results")
	if err != nil {
		t.Fatal(err)
	}
	r := &replayRun{streams: s, target: &replayTarget{where: "worker w"}, out: files}
	r.plan.workload = replay.Workload{Lambdas: []replay.Lambda{{Name: "f"}}, Requests: []replay.Request{{}, {At: time.Second}}}
	for _, q := range r.plan.workload.Requests {
		r.sent = append(r.sent, replay.Sample{Request: q, Start: "warm", Status: 200, Latency: time.Millisecond})
	}
	return r
}

// What cannot be written is printed, and what can be is kept.
func TestReportThatCannotBeWritten(t *testing.T) {
	for name, spoil := range map[string]func(*outputs) error{
		"a file":          func(o *outputs) error { return os.Mkdir(filepath.Join(o.temp, "requests.csv"), 0o755) },
		"the last moment": func(o *outputs) error { return os.MkdirAll(filepath.Join(o.dir, "requests.csv", "x"), 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			r := measured(t, &out)
			if err := spoil(r.out); err != nil {
				t.Fatal(err)
			}
			err := r.report(false)
			var f *failure
			if !errors.As(err, &f) || f.code != codeFailed || !strings.Contains(f.next, r.out.temp) {
				t.Errorf("%v", err)
			}
			r.out.abort()
			if text, err := os.ReadFile(filepath.Join(r.out.temp, "replay.json")); err != nil || !strings.Contains(string(text), `"requests": 2`) {
				t.Errorf("%s, %v", text, err)
			}
			if !strings.Contains(out.String(), "requests                               2") {
				t.Errorf("printed:\n%s", out.String())
			}
		})
	}
}

// A target that hangs must not keep the results back.
func TestResultsComeBeforeCleaningUp(t *testing.T) {
	var out strings.Builder
	r := measured(t, &out)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Ol-Start", "warm") }))
	defer server.Close()
	r.target.url = server.URL
	r.plan.cost = lambdaCost{builtin: "echo"}
	r.plan.workload.Requests = r.plan.workload.Requests[:1]
	r.plan.timeout = time.Minute
	removed := false
	r.target.at = func(ctx context.Context, method, path string, body io.Reader, header http.Header) (*http.Response, error) {
		if method == http.MethodDelete {
			removed = true
			if _, err := os.Stat(filepath.Join(r.out.dir, "replay.json")); err != nil || out.Len() == 0 {
				t.Errorf("removed before the results were written and printed: %v", err)
			}
		}
		return registryThat(200, nil)(ctx, method, path, body, header)
	}
	if err := r.run(t.Context(), false); err != nil || !removed {
		t.Errorf("%v, removed %v", err, removed)
	}
}
