package engine

import (
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

// ready makes a provisioned sandbox serve.
func (e *Engine) ready(id policies.SandboxID, init time.Duration) {
	b := e.box(id)
	switch {
	case b == nil || (b.State != policies.Provisioning && b.State != policies.Dying):
		e.breach("ready: sandbox %d is not being provisioned", id)
		return
	case b.State == policies.Dying:
		return // crossed a Destroy
	}
	f := e.funcs[b.Fn]
	e.unlist(&f.FirstStarting, b)
	e.node.Starting--
	e.count(f, b, -1, &f.Provisioning)
	b.State, b.ReadyAt, b.LastUse = policies.Idle, e.now, e.now
	if b.Cause == policies.ForMinimum {
		f.minFails = 0
	}
	e.count(f, b, 1, &f.IdleCount)
	e.available(f, b)
	e.observe(policies.Fact{Kind: policies.FactReady, Fn: b.Fn, Sandbox: id, Seq: b.seq, Dur: init})
	if r := e.request(b.bound); r != nil {
		b.bound = policies.NoRequest
		f.boundBoxes--
		e.run(r, b)
	}
	e.serve(f)
	e.settleIdle(b)
	e.recheck(f)
}

// settleIdle shows a box that stayed idle to the evictor.
func (e *Engine) settleIdle(b *box) {
	if b.State != policies.Idle {
		return
	}
	e.offer(b)
	e.observe(policies.Fact{Kind: policies.FactIdle, Fn: b.Fn, Sandbox: b.ID, Seq: b.seq})
}

// finished ends a request and gives its slot to the next one.
func (e *Engine) finished(ev *Event) {
	r, b := e.request(ev.Req), e.box(ev.Sandbox)
	if r == nil || b == nil || r.state != running || r.sandbox != ev.Sandbox {
		e.breach("finished: request %d does not run in sandbox %d", ev.Req, ev.Sandbox)
		return
	}
	f := e.funcs[b.Fn]
	r.state = absent
	f.InFlight--
	b.Running--
	b.LastUse, b.served = e.now, true
	e.observe(policies.Fact{Kind: policies.FactFinished, Fn: b.Fn, Sandbox: b.ID, Req: r.id, Seq: b.seq, Dur: ev.Dur})
	switch {
	case !ev.OK:
		e.drain(b, ReasonUnusable)
	case f.Spec.OneShot:
		e.drain(b, ReasonUnusable)
	case e.starved(f):
		e.drain(b, ReasonStarved)
	}
	e.release(f, b)
}

// release gives the free slot of a box away, or ends a draining one.
func (e *Engine) release(f *function, b *box) {
	if b.draining {
		e.requeue(f, b)
		if b.Running == 0 && b.State == policies.Busy {
			e.destroy(b, b.reason)
		}
		e.ensureMin(f)
		e.recheck(f)
		return
	}
	if b.queue.n > 0 {
		r := e.requests[b.queue.head]
		e.unlink(&b.queue, r)
		e.run(r, b)
	} else {
		e.available(f, b)
		e.serve(f)
	}
	if b.Running == 0 && b.State == policies.Busy {
		e.unlistBusy(f, b)
		e.count(f, b, -1, &f.BusyCount)
		b.State, b.BusySince = policies.Idle, policies.Never
		e.count(f, b, 1, &f.IdleCount)
		e.settleIdle(b)
	}
	e.recheck(f)
}

// requeue asks the scaler anew about requests bound to a box that is ending.
func (e *Engine) requeue(f *function, b *box) {
	for b.queue.n > 0 {
		r := e.requests[b.queue.head]
		e.unlink(&b.queue, r)
		e.again(f, r)
	}
	if r := e.request(b.bound); r != nil {
		b.bound = policies.NoRequest
		e.again(f, r)
	}
}

// again puts a request that lost what it was bound to back to its function.
func (e *Engine) again(f *function, r *request) {
	if f.Available > 0 && e.boxes[f.FirstAvailable].Revision == f.Spec.Revision {
		e.run(r, e.pick(f)) // another sandbox has a free slot
		return
	}
	f.Waiting--
	if o := r.outcome; o != nil {
		r.outcome = nil
		o.Abandoned(e.now, e.waitOf(r))
	}
	e.block(f, r)
}

// returned queues a request again whose sandbox died before it was sent. A
// lambda whose new sandboxes die at once fails as one whose starts fail: after
// as many retries.
func (e *Engine) returned(req policies.RequestID, id policies.SandboxID) {
	r, b := e.request(req), e.box(id)
	if r == nil || b == nil || r.state != running || r.sandbox != id {
		e.breach("returned: request %d does not run in sandbox %d", req, id)
		return
	}
	f := e.funcs[b.Fn]
	b.Running--
	b.LastUse = e.now
	e.drain(b, ReasonUnusable)
	if !b.served {
		r.spoilt++
	}
	switch {
	case !f.defined:
		f.Waiting++
		e.reject(f, r, ReasonForgotten)
	case r.spoilt > max(0, e.cfg.Retries):
		f.Waiting++
		e.reject(f, r, ReasonLambda)
	case f.Available > 0:
		r.waited = true
		f.Waiting++
		e.run(r, e.pick(f))
	default:
		e.block(f, r)
	}
	e.release(f, b)
}

// failed handles a start that did not succeed; nothing is left of it.
func (e *Engine) failed(id policies.SandboxID, fault Fault) {
	b := e.box(id)
	switch {
	case b == nil || (b.State != policies.Provisioning && b.State != policies.Dying):
		e.breach("failed: sandbox %d is not being provisioned", id)
		return
	case b.State == policies.Dying:
		return // crossed a Destroy; its EvGone follows
	}
	f := e.funcs[b.Fn]
	req, cause, attempts := b.bound, b.Cause, b.attempts+1
	e.leave(b)
	e.dropBox(b)
	if cause != policies.ForDemand {
		e.minFailed(f, cause)
	}
	again := fault == FaultHost && attempts <= e.cfg.Retries
	switch r := e.request(req); {
	case r != nil && f.Available > 0:
		e.run(r, e.pick(f)) // another sandbox covers it
	case r != nil && again:
		s := e.want(f, cause, req, true)
		s.attempts = attempts
		r.state, r.start = boundStart, s.id
		e.insert(&f.bound, r)
		e.holdBack(s, e.cfg.RetryBase<<(attempts-1))
	case r != nil:
		e.reject(f, r, reasonOf(fault))
		e.rejectBound(f, fault)
	case again && cause == policies.ForDemand && f.late.n > 0:
		s := e.want(f, cause, policies.NoRequest, true)
		s.attempts = attempts
		e.holdBack(s, e.cfg.RetryBase<<(attempts-1))
	case cause == policies.ForDemand || fault == FaultLambda:
		e.rejectUncovered(f, reasonOf(fault))
		if f.late.n > 0 {
			e.recheckLater(f)
			return
		}
	}
	e.recheck(f)
}

// recheckLater asks the scaler again when a back-off has passed. Whoever
// still waits is covered by another sandbox, and a start that would replace
// the failed one at once would as likely fail at once, and so on.
func (e *Engine) recheckLater(f *function) {
	e.setAgain(f, policies.Earliest(f.againAt, e.now.Add(e.cfg.RetryBase)))
	e.unstrand(f)
}

func reasonOf(f Fault) Reason {
	if f == FaultLambda {
		return ReasonLambda
	}
	return ReasonHost
}

// died takes a ready sandbox that ended by itself out of service.
func (e *Engine) died(id policies.SandboxID) {
	b := e.box(id)
	if b == nil || b.State == policies.Dying || b.draining {
		return // known already
	}
	f := e.funcs[b.Fn]
	switch b.State {
	case policies.Idle:
		e.destroy(b, ReasonUnusable)
		e.ensureMin(f)
	case policies.Busy:
		e.drain(b, ReasonUnusable)
		e.requeue(f, b)
	case policies.Provisioning:
		e.breach("died: sandbox %d is being provisioned", id)
		return
	case policies.Gone, policies.Dying:
	}
	e.recheck(f)
}

// gone frees the memory of a sandbox that the mechanism has removed.
func (e *Engine) gone(id policies.SandboxID) {
	b := e.box(id)
	if b == nil || b.State != policies.Dying {
		e.breach("gone: sandbox %d was not destroyed", id)
		return
	}
	f := e.funcs[b.Fn]
	e.dropBox(b)
	e.ensureMin(f)
}

// reshaped changes the form and the charge of a sandbox that was asked to. A
// mechanism that cannot do it says that the sandbox is full as before.
func (e *Engine) reshaped(id policies.SandboxID, form policies.Form, mb int64) {
	b := e.box(id)
	switch {
	case b == nil || b.State == policies.Dying:
		return // ended meanwhile: the whole charge is released then
	case !b.reshaping || mb < 0:
		e.breach("reshaped: sandbox %d to %d MB was not asked for", id, mb)
		return
	}
	f := e.funcs[b.Fn]
	b.reshaping = false
	e.node.FreeMB += b.MB - mb
	f.HeldMB += mb - b.MB
	b.MB, b.Form = mb, form
	if form != policies.FormFull {
		e.offer(b)
		return
	}
	e.count(f, b, 1, &f.IdleCount)
	e.available(f, b)
	if !f.defined || b.Revision != f.Spec.Revision {
		e.destroy(b, ReasonRevision)
		return
	}
	e.serve(f)
	e.settleIdle(b)
}

// resize changes the pool. Sandboxes go as they are idle until the rest fits.
func (e *Engine) resize(mb int64) {
	if mb < 1 {
		e.breach("resize: pool of %d MB", mb)
		return
	}
	e.node.FreeMB += mb - e.node.PoolMB
	e.node.PoolMB = mb
}

// fit evicts while a pool that was made smaller holds more than it should.
func (e *Engine) fit() {
	for e.node.FreeMB+e.node.DyingMB < 0 && e.node.IdleMB > 0 {
		id, ok := e.cfg.Evictor.Next(&e.state, policies.Start{Fn: policies.NoFunc, MB: -e.node.FreeMB})
		b := e.box(id)
		if !ok || b == nil || !b.evictable {
			return
		}
		e.evict(b, 0, ReasonResize)
	}
}
