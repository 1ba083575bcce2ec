package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
)

// call is one request of a scenario.
type call struct {
	at   time.Duration
	fn   policies.FuncID
	exec time.Duration
}

// play runs calls under a preset of the catalog, with memory that is freed at
// once and no starvation rule.
func play(t *testing.T, preset string, poolMB int64, fns []enginetest.Fn, calls []call, until time.Duration) *enginetest.Harness {
	t.Helper()
	return drive(t, config(t, preset, poolMB), fns, calls, until)
}

// drive does the same with any configuration.
func drive(t *testing.T, cfg engine.Config, fns []enginetest.Fn, calls []call, until time.Duration) *enginetest.Harness {
	t.Helper()
	h := enginetest.New(t, cfg, fns...)
	for _, c := range calls {
		h.Arrive(c.at, c.fn, c.exec)
	}
	h.Run(until)
	return h
}

// lines returns the entries of the log, without their times, that begin with
// a word.
func lines(h *enginetest.Harness, word string) []string {
	var out []string
	for _, l := range h.Log {
		_, what, _ := strings.Cut(strings.TrimSpace(l), "  ")
		if strings.HasPrefix(what, word) {
			out = append(out, what)
		}
	}
	return out
}

// victims names the sandboxes destroyed, in order.
func victims(h *enginetest.Harness) string {
	var ids []string
	for _, l := range lines(h, "destroy ") {
		id, _, _ := strings.Cut(strings.TrimPrefix(l, "destroy "), ":")
		ids = append(ids, id)
	}
	return strings.Join(ids, " ")
}

// starts counts the sandboxes started.
func starts(h *enginetest.Harness) int { return len(lines(h, "start ")) }

// kinds names how each request was served, "-" for one that was not.
func kinds(h *enginetest.Harness) string {
	var out []string
	for _, r := range h.Results {
		switch {
		case !r.Served:
			out = append(out, "-")
		case r.Blocked:
			out = append(out, r.Kind.String()+"/blocked")
		default:
			out = append(out, r.Kind.String())
		}
	}
	return strings.Join(out, " ")
}

// waits lists the wait of each request.
func waits(h *enginetest.Harness) []time.Duration {
	var out []time.Duration
	for _, r := range h.Results {
		out = append(out, r.Wait)
	}
	return out
}

func wantWaits(t *testing.T, h *enginetest.Harness, want ...time.Duration) {
	t.Helper()
	if got := waits(h); !slices.Equal(got, want) {
		t.Errorf("waits %v, want %v\n%s", got, want, h.Transcript())
	}
}

func wantString(t *testing.T, h *enginetest.Harness, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q\n%s", what, got, want, h.Transcript())
	}
}

// wantLog compares the whole log with lines that are trimmed of indentation.
func wantLog(t *testing.T, h *enginetest.Harness, want string) {
	t.Helper()
	clean := func(s string) string {
		var out []string
		for l := range strings.Lines(s) {
			if f := strings.Fields(l); len(f) > 0 {
				out = append(out, strings.Join(f, " "))
			}
		}
		return strings.Join(out, "\n")
	}
	if clean(h.Transcript()) != clean(want) {
		t.Errorf("got\n%swant\n%s", h.Transcript(), want)
	}
}

// view returns a copy of what policies see of a function.
func view(h *enginetest.Harness, fn policies.FuncID) policies.Func { return h.E.Snapshot().Funcs[fn] }

// twoOf100 are two functions of 100 MB that start in 100 ms.
func twoOf100() []enginetest.Fn { return []enginetest.Fn{fn(100, 100*ms), fn(100, 100*ms)} }
