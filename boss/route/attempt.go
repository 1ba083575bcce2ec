package route

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"

	"github.com/open-lambda/open-lambda/boss/fleet"
	"github.com/open-lambda/open-lambda/src/api"
)

// LostError is a worker that was sent the request, or a part of it, and did
// not answer.
type LostError struct {
	Worker string
	Err    error
}

// Error names the worker.
func (e *LostError) Error() string {
	return fmt.Sprintf("worker %s was lost with the request: %v", e.Worker, e.Err)
}

// Unwrap returns what the connection said.
func (e *LostError) Unwrap() error { return e.Err }

// maxAttempts bounds the workers that one request is tried on.
const maxAttempts = 8

// RoundTrip is part of http.RoundTripper: it sends the request to a worker, and
// to another one as long as that is safe.
func (r *Router) RoundTrip(req *http.Request) (*http.Response, error) {
	c := callOf(req.Context())
	body := newReplay(req.Body, r.cfg.Replay)
	// The worker knows no other protocol.
	req.Header.Del("Upgrade")
	req.Header.Del("Connection")
	lease, err := r.cfg.Fleet.Acquire(c.name)
	if errors.Is(err, fleet.ErrNoWorker) && r.cfg.Fleet.AwaitFirst(req.Context()) {
		lease, err = r.cfg.Fleet.Acquire(c.name)
	}
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		resp, again, err := r.attempt(req, body, c, lease)
		if resp != nil {
			c.code = resp.StatusCode
		}
		if !again {
			return resp, err
		}
		if n == maxAttempts || !body.rewind() {
			return resp, err
		}
		next, none := lease.Next()
		if none != nil {
			return resp, errIfAny(none, err)
		}
		c.retries = n
		discard(resp)
		lease = next
	}
}

// errIfAny adds to the failure of an attempt that no other could follow; an
// answer is no failure.
func errIfAny(none, err error) error {
	if err == nil {
		return nil
	}
	return errors.Join(none, err)
}

// attempt sends the request to one worker. again: it was not started there.
// Unless there is an answer to pass on, the lease has ended.
func (r *Router) attempt(req *http.Request, body *replay, c *call, l *fleet.Lease) (resp *http.Response, again bool, err error) {
	if err := r.aim(req, c, l); err != nil {
		l.Avoid()
		return nil, true, err
	}
	a := &wire{}
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{GotConn: a.got})
	out := req.WithContext(ctx)
	out.Body = body.attempt(req.Method)
	resp, err = r.transport.RoundTrip(out)
	if err == nil {
		if api.NotStarted(resp.StatusCode, resp.Header) {
			l.Avoid()
			return resp, true, nil
		}
		resp.Body = &leased{ReadCloser: resp.Body, lease: l}
		return resp, false, nil
	}
	return nil, r.failed(req, body, l, a, err), r.blame(req, body, l, a, err)
}

// failed ends the lease of an attempt without an answer, and tells whether
// another may follow.
func (r *Router) failed(req *http.Request, body *replay, l *fleet.Lease, a *wire, err error) bool {
	switch {
	case req.Context().Err() != nil, body.fault() != nil:
		l.Done()
		return false
	case a.conn == nil: // no connection
		l.Suspect(err)
		return true
	case !a.sent(): // an idle connection that was being closed
		l.Done()
		return true
	}
	l.Suspect(err)
	return false
}

// blame says whose fault an attempt without an answer was.
func (r *Router) blame(req *http.Request, body *replay, l *fleet.Lease, a *wire, err error) error {
	if req.Context().Err() != nil {
		return context.Cause(req.Context())
	}
	if fault := body.fault(); fault != nil {
		return &clientError{fault}
	}
	if a.sent() {
		return &LostError{Worker: l.Worker, Err: err}
	}
	return fmt.Errorf("reach worker %s: %w", l.Worker, err)
}

// clientError is a failure to read the client's request.
type clientError struct{ err error }

func (e *clientError) Error() string { return "read request: " + e.err.Error() }
func (e *clientError) Unwrap() error { return e.err }

// discard ends an answer that is not passed on, so that its connection can be
// used again.
func discard(resp *http.Response) {
	if resp == nil {
		return
	}
	// What is not read in full costs the connection, no more.
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	_ = resp.Body.Close()
}

// leased is an answer's body; the lease ends with it.
type leased struct {
	io.ReadCloser
	lease *fleet.Lease
}

// Close ends the lease.
func (b *leased) Close() error {
	b.lease.Done()
	return b.ReadCloser.Close()
}
