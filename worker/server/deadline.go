package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// errDeadline is the cause of a request whose client's time is over.
var errDeadline = errors.New("no answer within the time that the client allows")

// deadlineError is an api.HeaderTimeout that makes no sense.
type deadlineError struct{ got string }

// Error says what it must be.
func (e *deadlineError) Error() string {
	return fmt.Sprintf("header %s is %q: it must be a positive number of milliseconds", api.HeaderTimeout, e.got)
}

// limited gives the request the time that api.HeaderTimeout allows. cancel
// must be called in any case.
func limited(r *http.Request) (*http.Request, context.CancelFunc, error) {
	text := r.Header.Get(api.HeaderTimeout)
	if text == "" {
		return r, func() {}, nil
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms <= 0 {
		return r, func() {}, &deadlineError{text}
	}
	// Longer than a year is no limit, and would not fit a Duration.
	limit := time.Duration(min(ms, 365*24*3600*1000)) * time.Millisecond
	ctx, cancel := context.WithTimeoutCause(r.Context(), limit, errDeadline)
	return r.WithContext(ctx), cancel, nil
}
