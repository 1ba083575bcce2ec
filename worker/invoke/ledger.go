package invoke

import (
	"context"
	"net/http"
	"slices"
	"sync"
)

// MaxDepth is how many calls may hang on one request from outside, one below
// the other.
const MaxDepth = 8

// depthKey is the context key of a request's depth.
type depthKey struct{}

// depthOf is 0 for a request from outside.
func depthOf(ctx context.Context) int {
	n, _ := ctx.Value(depthKey{}).(int)
	return n
}

// running is a request in a sandbox.
type running struct {
	ctx   context.Context // ends with the request
	id    string
	trace string // traceparent, "" if it has none
	depth int
}

// ledger knows which requests run in which sandbox.
type ledger struct {
	mu        sync.Mutex
	sandboxes map[string][]*running // oldest first; by the sandbox' id
}

// add enters a request until end is called.
func (l *ledger) add(sandbox string, r *running) (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sandboxes[sandbox] = append(l.sandboxes[sandbox], r)
	return func() { l.remove(sandbox, r) }
}

func (l *ledger) remove(sandbox string, r *running) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := slices.DeleteFunc(l.sandboxes[sandbox], func(x *running) bool { return x == r })
	if len(rest) == 0 {
		delete(l.sandboxes, sandbox)
		return
	}
	l.sandboxes[sandbox] = rest
}

// find returns the request on whose behalf a call is made: the one that the
// call names, or else the deepest, so that nobody gains depth by not telling.
// nil: none runs.
func (l *ledger) find(sandbox, id string) *running {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found *running
	for _, r := range l.sandboxes[sandbox] {
		if r.id == id {
			return r
		}
		if found == nil || r.depth > found.depth {
			found = r
		}
	}
	return found
}

// Begin enters a request that is sent to a sandbox. ctx ends with it; id is its
// id, in what came in. end must be called.
func (d *Desk) Begin(ctx context.Context, sandbox, id string, in *http.Request) (end func()) {
	return d.ledger.add(sandbox, &running{ctx: ctx, id: id, trace: in.Header.Get(headerTrace), depth: depthOf(ctx)})
}
