package engine

import (
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

// define adds a function, or gives it a new specification. Its history stays.
func (e *Engine) define(id policies.FuncID, spec policies.Spec) {
	if id < 0 || int(id) > len(e.funcs) || spec.MB < 1 {
		e.breach("define: function %d of %d MB: ids are dense, memory is at least 1 MB", id, spec.MB)
		return
	}
	spec.Slots = max(1, spec.Slots)
	if int(id) == len(e.funcs) {
		f := &function{queued: startList{noStart, noStart}, late: noRequests(), bound: noRequests()}
		f.ID = id
		f.FirstAvailable, f.FirstBusy, f.FirstStarting = policies.NoSandbox, policies.NoSandbox, policies.NoSandbox
		e.funcs = append(e.funcs, f)
		e.node.Funcs = len(e.funcs)
	}
	f := e.funcs[id]
	old := f.Spec
	f.Spec, f.defined = spec, true
	if f.ColdNow == 0 || f.ColdNow == old.ColdEst {
		f.ColdNow = spec.ColdEst
	}
	f.minFails, f.minAt = 0, policies.Never
	if old.MB != 0 && (old.Revision != spec.Revision || old.MB != spec.MB || old.Slots != spec.Slots || old.OneShot != spec.OneShot) {
		e.retire(f, ReasonRevision)
	}
	e.repin(f)
	e.ensureMin(f)
	e.recheck(f)
}

// retire ends every sandbox of a function: idle ones and those being
// provisioned now, busy ones when their requests have ended. Starts that wait
// for memory become starts of the new revision.
func (e *Engine) retire(f *function, why Reason) {
	for id := f.queued.head; id != noStart; id = e.starts.slab[id].fnext {
		e.starts.slab[id].mb = f.Spec.MB
	}
	for f.FirstStarting != policies.NoSandbox {
		b := e.boxes[f.FirstStarting]
		if r := e.request(b.bound); r != nil {
			// Rebound to a start of the new revision; the scaler is not asked.
			b.bound = policies.NoRequest
			f.boundBoxes--
			s := e.want(f, policies.ForDemand, r.id, true)
			r.state, r.start = boundStart, s.id
			e.insert(&f.bound, r)
		}
		e.destroy(b, why)
	}
	for id := f.FirstAvailable; id != policies.NoSandbox; {
		b := e.boxes[id]
		id = b.Next
		if b.State == policies.Idle {
			e.destroy(b, why)
		}
	}
	for _, b := range e.boxes { // a shrunk one is of older code; a layer has none
		if b.Fn == f.ID && b.State == policies.Idle && b.Form == policies.FormShrunk {
			e.destroy(b, why)
		}
	}
	for f.FirstBusy != policies.NoSandbox {
		b := e.boxes[f.FirstBusy]
		e.drain(b, why)
		e.requeue(f, b)
	}
}

// forget removes a function; its history stays for the day it comes back.
func (e *Engine) forget(id policies.FuncID) {
	f := e.fn(id)
	if f == nil || !f.defined {
		return
	}
	f.Spec.Min = 0
	f.defined = false
	e.retireForgotten(f)
	e.setAgain(f, policies.Never)
}

func (e *Engine) retireForgotten(f *function) {
	for f.late.n > 0 {
		e.drop(f, f.late.head)
	}
	for f.bound.n > 0 {
		e.drop(f, f.bound.head)
	}
	for id := f.FirstStarting; id != policies.NoSandbox; id = e.boxes[id].Next {
		if r := e.boxes[id].bound; r != policies.NoRequest {
			e.drop(f, r)
		}
	}
	for id := f.FirstBusy; id != policies.NoSandbox; id = e.boxes[id].NextBusy {
		for b := e.boxes[id]; b.queue.n > 0; {
			e.drop(f, b.queue.head)
		}
	}
	for f.queued.head != noStart {
		e.unwish(e.starts.slab[f.queued.head])
	}
	e.retire(f, ReasonForgotten)
}

func (e *Engine) drop(f *function, id policies.RequestID) {
	r := e.requests[id]
	e.takeOut(f, r)
	e.reject(f, r, ReasonForgotten)
}

// repin fits the pins to a changed minimum: ready sandboxes beyond it are
// shown to the evictor, others are pinned up to it.
func (e *Engine) repin(f *function) {
	for _, b := range e.boxes {
		if b.Fn != f.ID || b.draining || b.Form != policies.FormFull || b.State == policies.Gone || b.State == policies.Dying {
			continue
		}
		switch {
		case b.Pinned && f.pinned > f.Spec.Min:
			e.unpin(f, b)
			if b.State == policies.Idle {
				e.offer(b)
			}
		case !b.Pinned && f.pinned < f.Spec.Min:
			e.retract(b)
			if e.pin(f, b); !b.Pinned && b.State == policies.Idle {
				e.offer(b)
			}
		}
	}
}

// ensureMin wants what a function lacks to its minimum.
func (e *Engine) ensureMin(f *function) {
	if !f.defined || f.Spec.Min == 0 || (f.minAt != policies.Never && e.now < f.minAt) {
		return
	}
	f.minAt = policies.Never
	missing := f.Spec.Min - f.Live - f.Queued
	for n := min(missing, f.room()); n > 0; n-- {
		if e.pinnedMB+f.Spec.MB > e.node.PoolMB/2 {
			return
		}
		e.want(f, policies.ForMinimum, policies.NoRequest, true)
	}
}

// minFailed delays the next start for a minimum or a wish after one failed.
func (e *Engine) minFailed(f *function, cause policies.Cause) {
	if cause != policies.ForMinimum {
		return
	}
	d := min(maxBackoff, e.cfg.RetryBase<<min(f.minFails, 16))
	f.minFails++
	f.minAt = e.now.Add(max(d, time.Millisecond))
	e.setTimer(f)
}
