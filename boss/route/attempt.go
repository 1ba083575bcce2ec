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
	"github.com/open-lambda/open-lambda/src/wire"
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
	if c.small {
		body = wholeReplay(c.body)
	}
	// The worker knows no other protocol.
	req.Header.Del("Upgrade")
	req.Header.Del("Connection")
	lease, err := r.acquire(req.Context(), c)
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
		if none != nil && err != nil { // nobody has refused: those that do not answer may soon
			next, none = r.acquire(req.Context(), c)
		}
		if none != nil {
			return resp, errIfAny(none, err)
		}
		c.retries = n
		discard(resp)
		lease = next
	}
}

// acquire finds a worker, waiting for one as long as there is hope.
func (r *Router) acquire(ctx context.Context, c *call) (*fleet.Lease, error) {
	f := r.cfg.Fleet
	lease, err := f.Acquire(c.name)
	if errors.Is(err, fleet.ErrNoWorker) && f.AwaitFirst(ctx) {
		lease, err = f.Acquire(c.name)
	}
	for errors.Is(err, fleet.ErrNoWorker) && f.AwaitAny(ctx) {
		lease, err = f.Acquire(c.name)
	}
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return lease, err
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
	h, err := r.hops.to(l.URL)
	if err != nil {
		l.Avoid()
		return nil, true, err
	}
	r.aim(req, c, l, h)
	resp, left, err := r.pass(req, body, c, h)
	if err == nil {
		if api.NotStarted(resp.StatusCode, resp.Header) {
			l.Avoid()
			return resp, true, nil
		}
		resp.Body = &leased{ReadCloser: resp.Body, lease: l}
		return resp, false, nil
	}
	return nil, r.failed(req, body, l, left, err), r.blame(req, body, l, left, err)
}

// pass makes one round trip to a worker.
func (r *Router) pass(req *http.Request, body *replay, c *call, h *hop) (*http.Response, trail, error) {
	if c.small {
		req.Body = body.whole()
		resp, err := h.small.RoundTrip(req)
		var unconnected *wire.ConnectError
		return resp, trail{connected: !errors.As(err, &unconnected), sent: !errors.Is(err, wire.ErrNotSent)}, err
	}
	a := &watch{}
	out := req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{GotConn: a.got}))
	out.Body = body.attempt(req.Method)
	resp, err := r.transport.RoundTrip(out)
	return resp, a.trail(), err
}

// failed ends the lease of an attempt without an answer, and tells whether
// another may follow.
func (r *Router) failed(req *http.Request, body *replay, l *fleet.Lease, left trail, err error) bool {
	switch {
	case req.Context().Err() != nil, body.fault() != nil:
		l.Done()
		return false
	case !left.connected: // no connection
		l.Suspect(err)
		return true
	case !left.sent: // an idle connection that was being closed
		l.Done()
		return true
	}
	l.Suspect(err)
	return false
}

// blame says whose fault an attempt without an answer was.
func (r *Router) blame(req *http.Request, body *replay, l *fleet.Lease, left trail, err error) error {
	if req.Context().Err() != nil {
		return context.Cause(req.Context())
	}
	if fault := body.fault(); fault != nil {
		return &clientError{fault}
	}
	if left.sent {
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
