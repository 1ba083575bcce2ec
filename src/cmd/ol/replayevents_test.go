package main

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/replay"
)

// watched follows a worker whose events the test writes.
func watched(t *testing.T) (*sandboxWatch, *json.Encoder, io.Closer) {
	from, to := io.Pipe()
	f := &sandboxWatch{
		cancel: func() { _ = from.Close() }, more: make(chan struct{}, 1), ended: map[string]int{}, open: map[string]int{}, reading: 1,
	}
	f.wg.Go(func() { f.read(t.Context(), "w", from) })
	return f, json.NewEncoder(to), to
}

func tell(t *testing.T, to *json.Encoder, kinds ...string) {
	t.Helper()
	for _, kind := range kinds {
		if err := to.Encode(api.Event{At: time.Now().UnixNano(), Kind: kind, Sandbox: "s", Function: "f"}); err != nil {
			t.Fatal(err)
		}
	}
}

// The last event is on its way when the last answer is there: it is waited for.
func TestDrainWaitsForTheLastEnd(t *testing.T) {
	w := replay.Workload{Lambdas: []replay.Lambda{{Name: "f"}}}
	for name, c := range map[string]struct {
		answered   int // of two requests
		told, late []string
		want       time.Duration
	}{
		"all is there":          {2, []string{"run", "done", "run", "done"}, nil, 0},
		"one is late":           {2, []string{"run", "done", "run"}, []string{"done"}, 100 * time.Millisecond},
		"its begin as well":     {2, []string{"run", "done"}, []string{"run", "done"}, 100 * time.Millisecond},
		"nobody got it":         {1, []string{"run", "done"}, nil, 0},
		"handed back, one runs": {1, []string{"run", "done", "run"}, []string{"done"}, 100 * time.Millisecond},
		"it never comes":        {2, []string{"run", "done", "run"}, nil, drainLimit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, to, end := watched(t)
				tell(t, to, c.told...)
				samples := make([]replay.Sample, 2)
				for i := range c.answered {
					samples[i].Start = "warm"
				}
				if c.late != nil {
					time.AfterFunc(100*time.Millisecond, func() { tell(t, to, c.late...) })
				}
				synctest.Wait()
				began := time.Now()
				f.drain(w, samples)
				if took := time.Since(began); took != c.want {
					t.Errorf("it took %v, not %v", took, c.want)
				}
				if err := end.Close(); err != nil {
					t.Error(err)
				}
				f.wg.Wait()
				f.drain(w, make([]replay.Sample, 0)) // nobody reads: no reason to wait
			})
		})
	}
}

// A worker that goes away is told, and so is that there is nothing to draw.
func TestNothingToDrawIsAFailure(t *testing.T) {
	var talk strings.Builder
	r := &replayRun{streams: streams{err: &talk, dir: t.TempDir()}, plan: replayPlan{perfetto: "sandboxes.json"}}
	if err := r.draw(); err != nil {
		t.Errorf("nobody wanted to see any: %v", err)
	}
	f, _, end := watched(t)
	if err := end.Close(); err != nil {
		t.Fatal(err)
	}
	f.wg.Wait()
	r.sandboxes, r.tracks = f, f.end(time.Now())
	err := r.draw()
	if err == nil || exitCode(t.Context(), err) != codeFailed || !strings.Contains(err.Error(), "no worker has told of any") {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(talk.String(), "follow worker w: it told no more: EOF") {
		t.Errorf("told %q", talk.String())
	}
}
