package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Exit codes of every command.
const (
	codeFailed      = 1
	codeUsage       = 2
	codeNotRunning  = 3
	codeNotFound    = 4
	codeUnfit       = 5
	codeTimeout     = 124
	codeInterrupted = 130
)

// failure is an error that says what happened, why, and what to type next.
type failure struct {
	code int
	what string // "install lambda echo"
	why  error
	next string // one line, "" if there is nothing to be done
}

// Error is what happened and why.
func (f *failure) Error() string {
	if f.why == nil {
		return f.what
	}
	return f.what + ": " + f.why.Error()
}

// Unwrap returns why.
func (f *failure) Unwrap() error { return f.why }

func fail(code int, what string, why error, next string) error {
	return &failure{code, what, why, next}
}

// usage is the failure of a command line that makes no sense.
func usage(next, format string, args ...any) error {
	return &failure{code: codeUsage, what: fmt.Sprintf(format, args...), next: next}
}

// exitCode chooses the code for the end of a command.
func exitCode(ctx context.Context, err error) int {
	var f *failure
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		return codeInterrupted
	case errors.As(err, &f):
		return f.code
	case errors.Is(err, context.DeadlineExceeded):
		return codeTimeout
	}
	return codeFailed
}

// explain writes an error for a human: one paragraph, then what to type next.
func explain(s streams, err error) {
	s.say("ol: %s", strings.TrimSpace(err.Error()))
	var f *failure
	if errors.As(err, &f) && f.next != "" {
		s.say("  %s", f.next)
	}
}
