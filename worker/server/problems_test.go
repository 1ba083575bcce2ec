package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/lambda/unpack"
	"github.com/open-lambda/open-lambda/worker/code"
	"github.com/open-lambda/open-lambda/worker/dispatch"
	"github.com/open-lambda/open-lambda/worker/registry"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// What a client is told about each way to fail.
func TestProblems(t *testing.T) {
	rejected := func(r engine.Reason) error { return &dispatch.RejectError{Reason: r} }
	uploadError := func(err error) error { return (&sender{err: err}).blame(err) }
	tests := []struct {
		err    error
		status int
		reason string
		retry  bool
	}{
		{lambda.CheckName("a b"), 400, "bad-name", false},
		{&unpack.ContentError{Reason: "no f.py"}, 400, "bad-lambda", false},
		{registry.ErrNotFound, 404, "unknown-lambda", false},
		{rejected(engine.ReasonForgotten), 404, "unknown-lambda", false},
		{&methodError{sent: "PUT"}, 405, "method-not-allowed", false},
		{fmt.Errorf("read: %w", &http.MaxBytesError{Limit: 1 << 20}), 413, "body-too-large", false},
		{uploadError(&http.MaxBytesError{Limit: 1 << 20}), 413, "archive-too-large", false},
		{rejected(engine.ReasonQueueFull), 429, "queue-full", true},
		{uploadError(errors.New("broken pipe")), statusGone, "client-gone", false},
		{context.Canceled, statusGone, "client-gone", false},
		{&code.BrokenError{Name: "x", Err: errors.New("y")}, 500, "broken-lambda", false},
		{rejected(engine.ReasonTooLarge), 500, "too-large", false},
		{&dispatch.RejectError{Reason: engine.ReasonLambda, Start: &sandbox.StartError{Lambda: true}}, 502, "start-failed", false},
		{&dispatch.DeadError{Text: "out of memory"}, 502, "out-of-memory", false},
		{&dispatch.DeadError{Text: "exit code 3"}, 502, "sandbox-died", false},
		{&dispatch.DeadError{}, 502, "bad-answer", false},
		{dispatch.ErrClosing, 503, "shutting-down", true},
		{dispatch.ErrQueueTimeout, 503, "no-capacity", true},
		{&dispatch.RejectError{Reason: engine.ReasonHost, Start: &sandbox.StartError{}}, 503, "no-sandbox", true},
		{errors.New("disk full"), 503, "worker-failed", true},
		{(&sender{}).blame(errors.New("disk full")), 503, "worker-failed", true},
		{&dispatch.UnreachedError{Err: errors.New("too many open files")}, 503, "no-sandbox", true},
		{&dispatch.TimeoutError{}, 504, "runtime-limit", false},
	}
	for _, tt := range tests {
		p := problem(tt.err)
		if p.Status != tt.status || p.Reason != tt.reason || (p.RetryAfter > 0) != tt.retry {
			t.Errorf("%v: %d %s, retry after %v", tt.err, p.Status, p.Reason, p.RetryAfter)
		}
	}
}
