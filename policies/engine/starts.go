package engine

import (
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/heap"
)

const noStart int32 = -1

// start is a wish for a sandbox that has no memory yet.
type start struct {
	id       int32
	seq      uint64
	fn       policies.FuncID
	cause    policies.Cause
	mb       int64
	req      policies.RequestID // bound to it, or NoRequest
	attempts int
	wanted   policies.Time
	mayEvict bool
	evicted  bool // sandboxes made way for it
	backoff  bool // in Engine.back instead of the FIFO

	prev, next   int32 // in the FIFO
	fprev, fnext int32 // in function.queued
}

// startTable holds all wishes and the one FIFO of those that may be granted.
type startTable struct {
	slab       []*start
	free       []int32
	head, tail int32
	seq        uint64
}

func (t *startTable) init() { t.head, t.tail = noStart, noStart }

// startList is a function's wishes, oldest first.
type startList struct{ head, tail int32 }

// want adds a wish at the end of the FIFO, or of the back-off queue.
func (e *Engine) want(f *function, cause policies.Cause, req policies.RequestID, mayEvict bool) *start {
	t := &e.starts
	var s *start
	if n := len(t.free); n > 0 {
		s = t.slab[t.free[n-1]]
		t.free = t.free[:n-1]
	} else {
		s = &start{id: int32(len(t.slab))}
		t.slab = append(t.slab, s)
	}
	t.seq++
	*s = start{
		id: s.id, seq: t.seq, fn: f.ID, cause: cause, mb: f.Spec.MB, req: req,
		wanted: e.now, mayEvict: mayEvict, prev: noStart, next: noStart, fprev: f.queued.tail, fnext: noStart,
	}
	if f.queued.tail == noStart {
		f.queued.head = s.id
	} else {
		t.slab[f.queued.tail].fnext = s.id
	}
	f.queued.tail = s.id
	f.Queued++
	e.node.QueuedStarts++
	if s.lateBound() {
		f.lateQueued++
	}
	e.enqueue(s)
	return s
}

func (e *Engine) enqueue(s *start) {
	t := &e.starts
	s.backoff = false
	s.prev, s.next = t.tail, noStart
	if t.tail == noStart {
		t.head = s.id
	} else {
		t.slab[t.tail].next = s.id
	}
	t.tail = s.id
}

func (e *Engine) dequeue(s *start) {
	t := &e.starts
	if s.backoff {
		e.back.Remove(s.id)
		return
	}
	if s.prev == noStart {
		t.head = s.next
	} else {
		t.slab[s.prev].next = s.next
	}
	if s.next == noStart {
		t.tail = s.prev
	} else {
		t.slab[s.next].prev = s.prev
	}
}

// holdBack moves a wish from the FIFO to the back-off queue.
func (e *Engine) holdBack(s *start, d time.Duration) {
	e.dequeue(s)
	s.backoff = true
	e.back.Set(s.id, heap.Key{B: int64(e.now.Add(d)), C: s.seq})
}

// unwish forgets a wish. Whoever is bound to it must be moved elsewhere.
func (e *Engine) unwish(s *start) {
	t, f := &e.starts, e.funcs[s.fn]
	e.dequeue(s)
	if s.fprev == noStart {
		f.queued.head = s.fnext
	} else {
		t.slab[s.fprev].fnext = s.fnext
	}
	if s.fnext == noStart {
		f.queued.tail = s.fprev
	} else {
		t.slab[s.fnext].fprev = s.fprev
	}
	f.Queued--
	e.node.QueuedStarts--
	if s.lateBound() {
		f.lateQueued--
	}
	t.free = append(t.free, s.id)
}

// trim gives up queued starts of a function, newest first, that its waiting
// late-bound requests do not need any more. One that others have made way for
// stays, needed or not: their memory is on its way, so it is as good as issued.
func (e *Engine) trim(f *function) {
	keep := e.promised(f)
	spare := f.surplus()
	if keep != noStart {
		spare = min(spare, f.lateQueued-1)
	}
	e.giveUp(f, spare, keep)
}

// needed returns how many queued starts the late-bound requests need.
func (f *function) needed() int { return max(0, f.late.n-(f.Provisioning-f.boundBoxes)) }

// surplus returns how many queued starts are beyond that.
func (f *function) surplus() int { return f.lateQueued - f.needed() }

// promised returns the late-bound start of f that sandboxes have made way
// for and whose memory is on its way, noStart if there is none. It can only
// be the head of the FIFO.
func (e *Engine) promised(f *function) int32 {
	if e.starts.head == noStart {
		return noStart
	}
	s := e.starts.slab[e.starts.head]
	if s.fn != f.ID || !s.evicted || !s.lateBound() {
		return noStart
	}
	if _, need := e.source(s); need > e.node.FreeMB+e.node.DyingMB {
		return noStart
	}
	return s.id
}

// lateBound reports whether the start is for whoever waits first.
func (s *start) lateBound() bool {
	return s.cause == policies.ForDemand && s.req == policies.NoRequest
}

// giveUp forgets the newest n late-bound wishes of a function but one.
func (e *Engine) giveUp(f *function, n int, keep int32) (given int) {
	for id := f.queued.tail; id != noStart && given < n; {
		s := e.starts.slab[id]
		id = s.fprev
		if s.lateBound() && s.id != keep {
			e.unwish(s)
			given++
		}
	}
	return given
}

// pump grants starts in strict order while a slot and memory are there, and
// evicts for the head if that can succeed.
func (e *Engine) pump() {
	for e.starts.head != noStart {
		s := e.starts.slab[e.starts.head]
		if s.mb > e.node.PoolMB-e.pinnedMB {
			e.refuse(s, ReasonTooLarge)
			continue
		}
		if e.cfg.StartSlots > 0 && e.node.Starting >= e.cfg.StartSlots {
			return
		}
		from, need := e.source(s)
		n := &e.node
		switch {
		case need <= n.FreeMB:
			e.grant(s, from)
		case !s.mayEvict:
			e.unwish(s)
			e.unstrand(e.funcs[s.fn])
		case e.cfg.DropFull && need > n.FreeMB+n.DyingMB:
			if !e.makeRoom(s, need) {
				continue
			}
		case need <= n.FreeMB+n.DyingMB:
			return // its memory is on its way
		case s.evicted && s.lateBound() && e.funcs[s.fn].surplus() > 0:
			e.unwish(s) // it lost what was on its way, and nobody needs it
		case need <= n.FreeMB+n.DyingMB+e.idleBut(from):
			if !e.evictFor(s, from, need) {
				return
			}
		default:
			return // nothing is evicted in vain
		}
	}
}

// source returns the sandbox or layer that the start can be built from, if
// the policy knows one, and the memory that is needed besides.
func (e *Engine) source(s *start) (*box, int64) {
	if e.reuser == nil {
		return nil, s.mb
	}
	b := e.box(e.reuser.Reuse(&e.state, s.fn))
	if b == nil || b.State != policies.Idle || !b.evictable {
		return nil, s.mb
	}
	if b.Form == policies.FormShrunk && (b.Fn != s.fn || b.Revision != e.funcs[s.fn].Spec.Revision) {
		return nil, s.mb // another function's memory, or older code
	}
	return b, s.mb - b.MB
}

// idleBut returns the memory that can be had by evictions, without that of
// the sandbox which the start is to be built from.
func (e *Engine) idleBut(from *box) int64 {
	if from == nil {
		return e.node.IdleMB
	}
	return e.node.IdleMB - from.MB
}

// evictFor destroys idle sandboxes, but not the one that the start is to be
// built from, until what is free or on its way suffices.
func (e *Engine) evictFor(s *start, from *box, need int64) bool {
	if from != nil {
		e.retract(from)
		defer e.offer(from)
	}
	st := s.wish()
	for need > e.node.FreeMB+e.node.DyingMB {
		b := e.victim(&st)
		if b == nil {
			return false
		}
		s.evicted = true
		e.evict(b, s.seq, ReasonPressure)
	}
	return true
}

// wish is the start as policies see it.
func (s *start) wish() policies.Start {
	return policies.Start{Seq: s.seq, Fn: s.fn, MB: s.mb, Cause: s.cause}
}

// victim asks for the next sandbox to make way, nil if there is none.
func (e *Engine) victim(st *policies.Start) *box {
	id, ok := e.cfg.Evictor.Next(&e.state, *st)
	b := e.box(id)
	if !ok || b == nil || !b.evictable {
		return nil
	}
	return b
}

func (e *Engine) evict(b *box, seq uint64, why Reason) {
	e.retract(b)
	e.observe(policies.Fact{Kind: policies.FactEvicted, Fn: b.Fn, Sandbox: b.ID, Seq: seq})
	e.destroy(b, why)
}

// grant turns a wish into a sandbox that is being provisioned.
func (e *Engine) grant(s *start, from *box) {
	f := e.funcs[s.fn]
	e.giveToOldest(f, s)
	fromID := policies.NoSandbox
	if from != nil {
		fromID = from.ID
		e.leave(from)
		e.dropBox(from)
		// The id must not be handed out again in this very action.
		e.freeBox = e.freeBox[:len(e.freeBox)-1]
	}
	b := e.newBox()
	if from != nil {
		e.freeBox = append(e.freeBox, from.ID)
	}
	b.Fn, b.Revision, b.MB, b.Slots, b.Cause = s.fn, f.Spec.Revision, s.mb, max(1, f.Spec.Slots), s.cause
	b.State, b.StartedAt, b.ExpectReady = policies.Provisioning, e.now, e.now.Add(f.ColdNow)
	b.seq, b.attempts, b.bound, b.charged = s.seq, s.attempts, s.req, true
	e.node.FreeMB -= b.MB
	f.HeldMB += b.MB
	e.node.Starting++
	e.unwish(s)
	e.count(f, b, 1, &f.Provisioning)
	e.list(&f.FirstStarting, b)
	if r := e.request(b.bound); r != nil {
		e.unlink(&f.bound, r)
		r.state, r.sandbox = boundBox, b.ID
		f.boundBoxes++
	}
	e.pin(f, b)
	e.observe(policies.Fact{Kind: policies.FactStarted, Fn: b.Fn, Sandbox: b.ID, Seq: b.seq})
	e.emit(Action{Kind: ActStart, Fn: b.Fn, Sandbox: b.ID, From: fromID, Revision: b.Revision, MB: b.MB})
	if b.Cause != policies.ForDemand {
		e.trim(f) // it serves whoever waits, like a start for demand
	}
}

// giveToOldest lets the oldest request that is bound to a start without memory
// have this one. Starts of a function are alike; one that came back, or whose
// start failed, would otherwise be overtaken by younger ones.
func (e *Engine) giveToOldest(f *function, s *start) {
	r := e.request(s.req)
	if r == nil || f.bound.head == r.id {
		return
	}
	o := e.requests[f.bound.head]
	e.starts.slab[o.start].req, s.req = r.id, o.id
	o.start, r.start = r.start, o.start
}

// refuse drops a start that can never be granted, and whoever counts on it.
func (e *Engine) refuse(s *start, why Reason) {
	f := e.funcs[s.fn]
	req := s.req
	e.unwish(s)
	if r := e.request(req); r != nil {
		e.unlink(&f.bound, r)
		e.reject(f, r, why)
		if why != ReasonTooLarge {
			return // the others may fare better
		}
	}
	e.rejectUncovered(f, why)
}
