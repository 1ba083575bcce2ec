package engine

import (
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

// state is everything that the engine knows. It is the View of the policies.
type state struct {
	now      policies.Time
	node     policies.Node
	funcs    []*function // by FuncID
	boxes    []*box      // by SandboxID
	freeBox  []policies.SandboxID
	requests []*request // by RequestID
	starts   startTable
	born     uint64 // boxes ever made
	arrivals uint64 // requests ever
	pinnedMB int64
}

// Now, Node, Func and Sandbox make state a policies.View.
func (s *state) Now() policies.Time { return s.now }

// Node returns the node's totals.
func (s *state) Node() *policies.Node { return &s.node }

// Func returns a function that was defined.
func (s *state) Func(id policies.FuncID) *policies.Func { return &s.funcs[id].Func }

// Sandbox returns a sandbox that the engine named.
func (s *state) Sandbox(id policies.SandboxID) *policies.Sandbox { return &s.boxes[id].Sandbox }

// function is a function and its queues.
type function struct {
	policies.Func
	defined bool

	late   requestList // late-bound requests, oldest first
	bound  requestList // requests bound to a start that has no memory yet
	queued startList   // its starts that have no memory yet, oldest first

	lateQueued int // of queued: for demand, bound to no request
	boundBoxes int // sandboxes being provisioned for one bound request
	pinned     int // sandboxes counted for Spec.Min, being provisioned or ready
	againAt    policies.Time
	minAt      policies.Time // no start for Spec.Min before: the last ones failed
	minFails   int
}

// fn returns a defined or once defined function, nil for an unknown id.
func (e *Engine) fn(id policies.FuncID) *function {
	if id < 0 || int(id) >= len(e.funcs) {
		return nil
	}
	return e.funcs[id]
}

// room returns how many more sandboxes Spec.Max allows.
func (f *function) room() int {
	if f.Spec.Max <= 0 {
		return int(^uint32(0) >> 1)
	}
	return max(0, f.Spec.Max-f.Live-f.Queued)
}

// request is an invocation between its arrival and its end.
type request struct {
	id      policies.RequestID
	fn      policies.FuncID
	state   requestState
	arrived policies.Time
	order   uint64 // of arrival: never equal, unlike the time
	waited  bool   // found no free slot
	blocked bool   // bound to a start that lacked memory when it was served
	outcome policies.Outcome
	spoilt  int // times it came back from a sandbox that had not served anybody

	start      int32              // boundStart: its start
	sandbox    policies.SandboxID // boundBox, boxQueue, running
	prev, next policies.RequestID // in late, bound or a box's queue
}

type requestState uint8

const (
	absent     requestState = iota
	late                    // in function.late
	boundStart              // in function.bound
	boundBox                // box.bound of a sandbox being provisioned
	boxQueue                // in box.queue
	running
)

// requestList is an intrusive FIFO of requests.
type requestList struct {
	head, tail policies.RequestID // NoRequest if empty
	n          int
}

func noRequests() requestList {
	return requestList{head: policies.NoRequest, tail: policies.NoRequest}
}

func (e *Engine) request(id policies.RequestID) *request {
	if id < 0 || int(id) >= len(e.requests) {
		return nil
	}
	return e.requests[id]
}

// insert puts a request at its place in order of arrival: at the end, unless
// it was in a queue before and comes back.
func (e *Engine) insert(l *requestList, r *request) {
	next := policies.NoRequest
	if l.n > 0 && e.requests[l.tail].order > r.order {
		next = l.head
		for e.requests[next].order < r.order {
			next = e.requests[next].next
		}
	}
	e.insertBefore(l, r, next)
}

// insertBefore puts a request in front of another one, NoRequest for the end.
func (e *Engine) insertBefore(l *requestList, r *request, next policies.RequestID) {
	r.prev, r.next = l.tail, next
	if next != policies.NoRequest {
		r.prev = e.requests[next].prev
		e.requests[next].prev = r.id
	} else {
		l.tail = r.id
	}
	if r.prev != policies.NoRequest {
		e.requests[r.prev].next = r.id
	} else {
		l.head = r.id
	}
	l.n++
}

func (e *Engine) unlink(l *requestList, r *request) {
	if r.prev == policies.NoRequest {
		l.head = r.next
	} else {
		e.requests[r.prev].next = r.next
	}
	if r.next == policies.NoRequest {
		l.tail = r.prev
	} else {
		e.requests[r.next].prev = r.prev
	}
	l.n--
}

// touchHead keeps Func.HeadSince true after a change of the late queue.
func (e *Engine) touchHead(f *function) {
	f.HeadSince = policies.Never
	if f.late.n > 0 {
		f.HeadSince = e.requests[f.late.head].arrived
	}
}

// waitOf returns how long a request has waited.
func (e *Engine) waitOf(r *request) time.Duration { return e.now.Sub(r.arrived) }
