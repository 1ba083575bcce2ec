package dispatch

import (
	"errors"
	"fmt"
	"time"

	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// Errors of Do.
var (
	ErrClosing      = errors.New("the worker is shutting down")
	ErrClientGone   = errors.New("the client is gone")
	ErrQueueTimeout = errors.New("no sandbox in time")
	// ErrUnknown: the function was forgotten.
	ErrUnknown = errors.New("no such lambda")
)

// RejectError is a request that the engine refused.
type RejectError struct {
	Reason engine.Reason
	Start  *sandbox.StartError // the failed start, if Reason is about one
}

// Error says why.
func (e *RejectError) Error() string {
	switch {
	case e.Start != nil:
		return e.Start.Error()
	case e.Reason == engine.ReasonQueueFull:
		return "the queue of the lambda is full"
	case e.Reason == engine.ReasonTooLarge:
		return "the lambda needs more memory than the worker's pool has"
	case e.Reason == engine.ReasonForgotten:
		return "the lambda was removed"
	}
	return fmt.Sprintf("request refused (reason %d)", e.Reason)
}

// DeadError is a sandbox that died while it had the request.
type DeadError struct {
	Text string // why it died: "out of memory", "exit code 3"; "" if it lives but spoke no HTTP
	Err  error  // what the round trip saw
}

// Error says what happened.
func (e *DeadError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("the sandbox broke off: %v", e.Err)
	}
	return "the sandbox died: " + e.Text
}

// Unwrap returns what the round trip saw.
func (e *DeadError) Unwrap() error { return e.Err }

// UnreachedError is a request that no sandbox could be given, although some
// were there and live: the host is short of something.
type UnreachedError struct{ Err error }

// Error says what the last try saw.
func (e *UnreachedError) Error() string {
	return fmt.Sprintf("the sandboxes could not be reached: %v", e.Err)
}

// Unwrap returns it.
func (e *UnreachedError) Unwrap() error { return e.Err }

// TimeoutError is a request that ran longer than its lambda may.
type TimeoutError struct{ Limit time.Duration }

// Error names the limit.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("the lambda ran longer than its limit of %v (limits.runtime_sec)", e.Limit)
}
