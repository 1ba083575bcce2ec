package engine

import (
	"github.com/open-lambda/open-lambda/policies"
)

// arrive admits a request: a free slot takes it at once (Case I of CIDRE
// section 3.4), or it waits as the scaler says (Case II).
func (e *Engine) arrive(fn policies.FuncID, id policies.RequestID) {
	if id < 0 {
		e.breach("arrive: request id %d", id)
		return
	}
	for int(id) >= len(e.requests) {
		e.requests = append(e.requests, &request{id: policies.RequestID(len(e.requests))})
	}
	r := e.requests[id]
	if r.state != absent {
		e.breach("arrive: request %d is in use", id)
		return
	}
	f := e.fn(fn)
	if f == nil {
		e.breach("arrive: function %d is unknown", fn)
		return
	}
	e.arrivals++
	*r = request{
		id: id, fn: fn, arrived: e.now, order: e.arrivals, start: noStart, sandbox: policies.NoSandbox,
		prev: policies.NoRequest, next: policies.NoRequest,
	}
	if why := e.refusal(f); why != ReasonNone {
		e.emit(Action{Kind: ActReject, Fn: fn, Req: id, Reason: why})
		return
	}
	f.Arrived++
	f.InFlight++
	f.LastArrival = e.now
	if f.FirstArrival == policies.Never {
		f.FirstArrival = e.now
	}
	e.observe(policies.Fact{Kind: policies.FactArrived, Fn: fn, Sandbox: policies.NoSandbox, Req: id})
	if f.Available > 0 {
		e.run(r, e.pick(f))
		return
	}
	e.block(f, r)
}

func (e *Engine) refusal(f *function) Reason {
	switch {
	case !f.defined:
		return ReasonForgotten
	case f.Spec.MB > e.node.PoolMB-e.pinnedMB+int64(f.pinned)*f.Spec.MB:
		return ReasonTooLarge
	case e.cfg.QueueLimit > 0 && f.Available == 0 && f.Waiting >= e.cfg.QueueLimit:
		return ReasonQueueFull
	}
	return ReasonNone
}

// block queues a request that found no free slot and carries out the
// scaler's verdict. A returned request gets its old place.
func (e *Engine) block(f *function, r *request) {
	r.waited = true
	r.state = late
	e.insert(&f.late, r)
	f.Waiting++
	e.touchHead(f)
	v, o := e.cfg.Scaler.Blocked(&e.state, policies.Request{ID: r.id, Fn: f.ID, Arrived: r.arrived})
	r.outcome = o
	e.bind(f, r, &v)
	e.apply(f, &v)
}

// bind moves the request from the late queue to what the verdict binds it to.
func (e *Engine) bind(f *function, r *request, v *policies.Verdict) {
	switch v.Bind {
	case policies.ToStart:
		if v.Start < 1 || f.room() == 0 {
			return // Spec.Max: the earliest free sandbox serves it, bound or not
		}
		v.Start--
		e.unlink(&f.late, r)
		s := e.want(f, policies.ForDemand, r.id, true)
		r.state, r.start = boundStart, s.id
		e.insert(&f.bound, r)
	case policies.ToSandbox:
		b := e.box(v.Sandbox)
		if b == nil || b.State != policies.Busy || b.draining || b.Fn != f.ID {
			return
		}
		e.unlink(&f.late, r)
		r.state, r.sandbox = boxQueue, b.ID
		e.insert(&b.queue, r)
	case policies.Late:
	}
	e.touchHead(f)
}

// apply starts and cancels as the verdict says, and sees to it that no
// request is stranded.
func (e *Engine) apply(f *function, v *policies.Verdict) {
	for n := min(v.Start, f.room()); n > 0; n-- {
		e.want(f, policies.ForDemand, policies.NoRequest, true)
	}
	if v.Cancel > 0 {
		e.cancelStarts(f, v.Cancel)
	}
	e.unstrand(f)
	e.setAgain(f, v.Again)
	e.pump()
	e.trim(f)
}

// unstrand wants a start for late-bound requests that nobody could serve,
// whatever the scaler said.
func (e *Engine) unstrand(f *function) {
	if f.late.n > 0 && f.Live == 0 && f.Queued == 0 {
		e.want(f, policies.ForDemand, policies.NoRequest, true)
	}
}

// cancelStarts gives up n late-bound starts of demand, newest first.
func (e *Engine) cancelStarts(f *function, n int) {
	n -= e.giveUp(f, n, noStart)
	for id := f.FirstStarting; id != policies.NoSandbox && n > 0; {
		b := e.boxes[id]
		id = b.Next
		if b.bound == policies.NoRequest && b.Cause == policies.ForDemand && !b.Pinned {
			e.destroy(b, ReasonCancelled)
			n--
		}
	}
}

// pick chooses an available sandbox.
func (e *Engine) pick(f *function) *box {
	if e.cfg.Picker != nil {
		if b := e.box(e.cfg.Picker.Pick(&e.state, f.ID)); b != nil && b.listed && b.Fn == f.ID && b.State != policies.Provisioning {
			return b
		}
	}
	return e.boxes[f.FirstAvailable]
}

// run gives a request, which is in no queue any more, to a sandbox.
func (e *Engine) run(r *request, b *box) {
	f := e.funcs[b.Fn]
	kind := policies.Warm
	if r.waited {
		kind = policies.Delayed
		if b.Uses == 0 && b.Cause == policies.ForDemand && b.ReadyAt >= r.arrived {
			kind = policies.Cold
		}
		f.Waiting--
	}
	if b.State == policies.Idle {
		e.retract(b)
		e.count(f, b, -1, &f.IdleCount)
		b.State = policies.Busy
		e.count(f, b, 1, &f.BusyCount)
		e.listBusy(f, b)
	} else if b.Running == 0 { // handed on: its turn begins anew
		e.unlistBusy(f, b)
		e.listBusy(f, b)
	}
	if b.Running == 0 {
		b.BusySince = e.now
	}
	b.Running++
	b.Uses++
	b.LastUse = e.now
	if b.Running < b.Slots && !f.Spec.OneShot {
		e.available(f, b)
	} else {
		e.unavailable(f, b)
	}
	r.state, r.sandbox = running, b.ID
	wait := e.waitOf(r)
	e.emit(Action{
		Kind: ActRun, Fn: b.Fn, Req: r.id, Sandbox: b.ID, Start: kind,
		Blocked: r.blocked && kind == policies.Delayed, Wait: wait, Revision: b.Revision,
	})
	if o := r.outcome; o != nil {
		r.outcome = nil
		if kind == policies.Cold {
			o.Cold(e.now, wait)
		} else {
			o.Delayed(e.now, wait)
		}
	}
	e.observe(policies.Fact{Kind: policies.FactUsed, Fn: b.Fn, Sandbox: b.ID, Req: r.id, Seq: b.seq, Start: kind, Dur: wait})
}

// serve gives free slots to waiting requests, the oldest first: late-bound
// ones, and those whose start still lacks memory. A function at its maximum
// has both.
func (e *Engine) serve(f *function) {
	for f.Available > 0 {
		r := e.oldest(f)
		if r == nil {
			break
		}
		if r.state == late {
			e.unlink(&f.late, r)
			e.touchHead(f)
		} else {
			e.unlink(&f.bound, r)
			e.unwish(e.starts.slab[r.start])
			r.blocked = true
		}
		e.run(r, e.pick(f))
	}
	e.trim(f)
}

// oldest returns the request that the next free slot is for, nil if none
// waits for one.
func (e *Engine) oldest(f *function) *request {
	switch {
	case f.bound.n == 0 && f.late.n == 0:
		return nil
	case f.bound.n == 0:
		return e.requests[f.late.head]
	case f.late.n == 0:
		return e.requests[f.bound.head]
	}
	l, b := e.requests[f.late.head], e.requests[f.bound.head]
	if l.order < b.order {
		return l
	}
	return b
}

// recheck asks the scaler again about a function that may have changed.
func (e *Engine) recheck(f *function) {
	if f.defined {
		v := e.cfg.Scaler.Recheck(&e.state, f.ID)
		e.apply(f, &v)
	}
}

// cancel forgets a waiting request.
func (e *Engine) cancel(id policies.RequestID) {
	r := e.request(id)
	if r == nil || r.state == absent || r.state == running {
		return
	}
	f := e.funcs[r.fn]
	e.takeOut(f, r)
	e.abandon(f, r)
	e.unstrand(f) // the start of a bound request may have been all there was
	e.trim(f)
}

// takeOut removes a waiting request from whatever it waits for.
func (e *Engine) takeOut(f *function, r *request) {
	switch r.state {
	case late:
		e.unlink(&f.late, r)
		e.touchHead(f)
	case boundStart:
		e.unlink(&f.bound, r)
		e.unwish(e.starts.slab[r.start])
	case boundBox:
		e.boxes[r.sandbox].bound = policies.NoRequest
		f.boundBoxes--
	case boxQueue:
		e.unlink(&e.boxes[r.sandbox].queue, r)
	case absent, running:
	}
}

// abandon ends a request that was taken out and will not be served.
func (e *Engine) abandon(f *function, r *request) {
	f.Waiting--
	r.state = absent
	if o := r.outcome; o != nil {
		r.outcome = nil
		o.Abandoned(e.now, e.waitOf(r))
	}
	e.dropped(f, r)
}

// dropped tells the policies of a request that will not be served.
func (e *Engine) dropped(f *function, r *request) {
	f.InFlight--
	e.observe(policies.Fact{Kind: policies.FactDropped, Fn: f.ID, Sandbox: policies.NoSandbox, Req: r.id})
}

// reject ends a request that was taken out, and says so.
func (e *Engine) reject(f *function, r *request, why Reason) {
	wait := e.waitOf(r)
	e.abandon(f, r)
	e.emit(Action{Kind: ActReject, Fn: f.ID, Req: r.id, Reason: why, Wait: wait})
}

// rejectUncovered rejects the late-bound requests, newest first, that no
// other sandbox of the function can serve.
func (e *Engine) rejectUncovered(f *function, why Reason) {
	if f.IdleCount+f.BusyCount > 0 {
		return
	}
	cover := (f.Provisioning - f.boundBoxes) * max(1, f.Spec.Slots)
	for f.late.n > cover {
		r := e.requests[f.late.tail]
		e.unlink(&f.late, r)
		e.touchHead(f)
		e.reject(f, r, why)
	}
	e.trim(f)
}

// rejectBound rejects, after a fault of the lambda, those bound to starts that
// lack memory as well, if no sandbox is left that may yet prove them good.
func (e *Engine) rejectBound(f *function, fault Fault) {
	if fault != FaultLambda || f.Live > 0 {
		return
	}
	for f.bound.n > 0 {
		r := e.requests[f.bound.head]
		e.takeOut(f, r)
		e.reject(f, r, ReasonLambda)
	}
}
