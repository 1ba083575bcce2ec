package soak

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// kind is a sort of request and what has to come of it.
type kind struct {
	name   string
	weight int    // of all requests
	lambda string // "": one of the many that are alike
	method string // "": POST
	event  map[string]any
	slow   bool          // the client reads slowly
	leave  time.Duration // the client goes after this time; 0 never
	silent bool          // it reaches no lambda, so nobody counts it
	judge  func(id string, a *answer) error
}

// Names of lambdas with a part of their own.
const (
	versioned = "soak-versioned" // replaced again and again
	limited   = "soak-limited"   // may run for one second
	deserted  = "soak-deserted"  // its clients leave
	doomed    = "soak-doomed"    // exhausts its memory, or exits
)

const (
	padBytes    = 200_000
	streamLines = 20_000
)

// kinds are all of them.
func kinds() []kind {
	return []kind{
		{name: "echo", weight: 50, event: map[string]any{"do": "echo"}, judge: good},
		{name: "large body", weight: 4, event: map[string]any{"do": "echo", "pad": strings.Repeat("x", padBytes)}, judge: padded},
		{name: "busy for 30 ms", weight: 10, event: map[string]any{"do": "sleep", "ms": 30}, judge: good},
		{name: "stream", weight: 4, event: map[string]any{"do": "stream", "lines": streamLines}, judge: streamed},
		{name: "stream, slow reader", weight: 2, event: map[string]any{"do": "stream", "lines": streamLines}, slow: true, judge: streamed},
		{name: "replaced code", weight: 10, lambda: versioned, event: map[string]any{"do": "echo"}, judge: good},
		{name: "exception", weight: 5, event: map[string]any{"do": "fail"}, judge: traceback},
		{name: "out of memory", weight: 1, lambda: doomed, event: map[string]any{"do": "fill"}, judge: refused(http.StatusBadGateway, "out-of-memory")},
		{name: "exit", weight: 2, lambda: doomed, event: map[string]any{"do": "leave"}, judge: refused(http.StatusBadGateway, "sandbox-died")},
		{name: "over its time", weight: 1, lambda: limited, event: map[string]any{"do": "sleep", "ms": 60_000}, judge: refused(http.StatusGatewayTimeout, "runtime-limit")},
		{name: "client leaves", weight: 4, lambda: deserted, event: map[string]any{"do": "sleep", "ms": 20_000}, leave: 200 * time.Millisecond, judge: nobody},
		{name: "unknown lambda", weight: 2, lambda: "soak-unknown", silent: true, judge: refused(http.StatusNotFound, "unknown-lambda")},
		{name: "bad name", weight: 1, lambda: "soak@bad", silent: true, judge: refused(http.StatusBadRequest, "bad-name")},
		{name: "bad method", weight: 1, lambda: limited, method: http.MethodDelete, silent: true, judge: refused(http.StatusMethodNotAllowed, "method-not-allowed")},
	}
}

// answer is what a client got, whole.
type answer struct {
	status int
	kind   string // Content-Type
	id     string // X-Ol-Request-Id
	body   []byte
}

// reason is the word of a platform error, "" if it is none.
func (a *answer) reason() string {
	var p api.Problem
	if !strings.HasPrefix(a.kind, "application/problem+json") || json.Unmarshal(a.body, &p) != nil {
		return ""
	}
	return p.Reason
}

// echoed is the body of a good answer.
type echoed struct{ ID, Pad, Version string }

func (a *answer) echo() (e echoed, err error) {
	if a.status != http.StatusOK {
		return e, fmt.Errorf("status %d: %.300s", a.status, a.body)
	}
	if err := json.Unmarshal(a.body, &e); err != nil {
		return e, fmt.Errorf("body %.300q: %w", a.body, err)
	}
	return e, nil
}

func good(id string, a *answer) error {
	e, err := a.echo()
	if err == nil && e.ID != id {
		return fmt.Errorf("answer of %s", e.ID)
	}
	return err
}

func padded(id string, a *answer) error {
	e, err := a.echo()
	if err == nil && (e.ID != id || e.Pad != strings.Repeat("x", padBytes)) {
		return fmt.Errorf("answer of %s with %d bytes", e.ID, len(e.Pad))
	}
	return err
}

func streamed(id string, a *answer) error {
	if a.status != http.StatusOK {
		return fmt.Errorf("status %d: %.300s", a.status, a.body)
	}
	n := 0
	for line := range strings.Lines(string(a.body)) {
		if line != id+" "+strconv.Itoa(n)+"\n" {
			return fmt.Errorf("line %d is %.100q", n, line)
		}
		n++
	}
	if n != streamLines {
		return fmt.Errorf("%d lines instead of %d", n, streamLines)
	}
	return nil
}

func traceback(id string, a *answer) error {
	if a.status != http.StatusInternalServerError || !strings.Contains(string(a.body), "ValueError: "+id) {
		return fmt.Errorf("status %d: %.300s", a.status, a.body)
	}
	return nil
}

// refused wants a platform error.
func refused(status int, reason string) func(string, *answer) error {
	return func(_ string, a *answer) error {
		if a.status != status || a.reason() != reason {
			return fmt.Errorf("status %d instead of %d %s: %.300s", a.status, status, reason, a.body)
		}
		return nil
	}
}

// nobody judges the answer to a client that should have left before it.
func nobody(_ string, a *answer) error {
	return fmt.Errorf("status %d for a client that had left: %.300s", a.status, a.body)
}
