package invoke

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/open-lambda/open-lambda/src/api"
)

// headerTrace is the W3C's header for the trace that a request belongs to.
const headerTrace = "Traceparent"

// Desk takes the calls of lambdas.
type Desk struct {
	next   http.Handler // runs requests to /run/
	ledger ledger
}

// NewDesk returns a desk that hands calls on to the worker's server, or for
// which Serve names it before the first call.
func NewDesk(next http.Handler) *Desk {
	return &Desk{next: next, ledger: ledger{sandboxes: map[string][]*running{}}}
}

// Serve names the handler that calls are handed on to.
func (d *Desk) Serve(next http.Handler) { d.next = next }

// caller is one sandbox of a lambda that may call others.
type caller struct {
	desk    *Desk
	sandbox string
	name    string
	allowed []string
}

// Handler answers the calls of one sandbox, of the lambda with that name.
func (d *Desk) Handler(sandbox, name string, allowed []string) http.Handler {
	return &caller{desk: d, sandbox: sandbox, name: name, allowed: allowed}
}

// ServeHTTP runs a call.
func (c *caller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p := c.refuse(r); p != nil {
		if p.Status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", http.MethodPost)
		}
		p.Write(w, r)
		return
	}
	parent := c.desk.ledger.find(c.sandbox, r.Header.Get(api.HeaderRequestID))
	if p := c.orphan(parent); p != nil {
		p.Write(w, r)
		return
	}
	r, cancel := below(parent, r)
	defer cancel()
	c.desk.next.ServeHTTP(w, r)
}

// refuse says why a call cannot be made, whoever's it is.
func (c *caller) refuse(r *http.Request) *api.Problem {
	rest, ok := strings.CutPrefix(r.URL.Path, api.PathRun)
	name, _, _ := strings.Cut(rest, "/")
	switch {
	case !ok:
		return api.NewProblem(http.StatusNotFound, "no-route", "there is nothing at "+r.URL.Path+"; lambdas are at "+api.PathRun+"NAME")
	case r.Method != http.MethodPost:
		return api.NewProblem(http.StatusMethodNotAllowed, "method-not-allowed", "lambdas call each other with POST, not "+r.Method)
	case !slices.Contains(c.allowed, name):
		return api.NewProblem(http.StatusForbidden, "call-not-listed",
			fmt.Sprintf("%s may not call %q: ol.yaml of %s must list it under calls", c.name, name, c.name))
	}
	return nil
}

// orphan says why a call on behalf of parent cannot be made.
func (c *caller) orphan(parent *running) *api.Problem {
	switch {
	case parent == nil:
		return api.NewProblem(http.StatusConflict, "no-request", "a lambda calls others while it works on a request, and "+c.name+" does not")
	case parent.depth >= MaxDepth:
		p := api.NewProblem(http.StatusLoopDetected, "calls-too-deep", fmt.Sprintf("%d calls hang below one request already: do lambdas call each other in a circle?", MaxDepth))
		p.RequestID = parent.id
		return p
	}
	return nil
}

// below makes of a call a request that belongs to its parent and ends with it.
func below(parent *running, r *http.Request) (*http.Request, context.CancelFunc) {
	ctx := context.WithValue(r.Context(), depthKey{}, parent.depth+1)
	ctx, end := context.WithCancelCause(ctx)
	stop := context.AfterFunc(parent.ctx, func() { end(context.Cause(parent.ctx)) })
	cancel := func() { stop(); end(nil) }
	if deadline, ok := parent.ctx.Deadline(); ok {
		var done context.CancelFunc
		ctx, done = context.WithDeadline(ctx, deadline)
		cancel = func() { stop(); done(); end(nil) }
	}
	out := r.Clone(ctx)
	out.Header.Set(api.HeaderRequestID, parent.id)
	out.Header.Del(api.HeaderToken)
	out.Header.Del(api.HeaderStamp)
	if parent.trace != "" && out.Header.Get(headerTrace) == "" {
		out.Header.Set(headerTrace, parent.trace)
	}
	return out, cancel
}
