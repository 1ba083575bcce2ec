package engine

import (
	"errors"
	"fmt"

	"github.com/open-lambda/open-lambda/policies"
)

// Check verifies every invariant of the package documentation by counting
// anew, and reports the first breach of the protocol by the driver. It is for
// tests and fuzzing: it takes time in proportion to the state.
func (e *Engine) Check() error {
	if e.bad != nil {
		return e.bad
	}
	var errs []error
	say := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	e.checkNode(say)
	e.checkRequests(say)
	for _, f := range e.funcs {
		e.checkFunction(f, say)
	}
	return errors.Join(errs...)
}

type sayer func(format string, args ...any)

func (e *Engine) checkNode(say sayer) {
	var charged, idle, dying, pinned int64
	starting, gone := 0, 0
	for _, b := range e.boxes {
		if b.State == policies.Gone {
			gone++
			continue
		}
		charged += b.MB
		switch b.State {
		case policies.Dying:
			dying += b.MB
		case policies.Provisioning:
			starting++
		case policies.Idle, policies.Busy, policies.Gone:
		}
		if b.evictable {
			idle += b.MB
		}
		if b.Pinned {
			pinned += b.MB
		}
		if b.evictable != (b.State == policies.Idle && !b.Pinned && !b.reshaping) {
			say("sandbox %d is %v, pinned %v, but evictable %v", b.ID, b.State, b.Pinned, b.evictable)
		}
		if (b.Running > 0) != (b.State == policies.Busy) || b.Running > b.Slots {
			say("sandbox %d is %v with %d requests in %d slots", b.ID, b.State, b.Running, b.Slots)
		}
	}
	n := &e.node
	if n.PoolMB-n.FreeMB != charged || n.IdleMB != idle || n.DyingMB != dying || e.pinnedMB != pinned {
		say("node: free %d of %d, idle %d, dying %d, pinned %d, counted: charged %d, idle %d, dying %d, pinned %d",
			n.FreeMB, n.PoolMB, n.IdleMB, n.DyingMB, e.pinnedMB, charged, idle, dying, pinned)
	}
	if n.Starting != starting || gone != len(e.freeBox) {
		say("node: %d starting, %d free ids, counted %d and %d", n.Starting, len(e.freeBox), starting, gone)
	}
	if e.cfg.StartSlots > 0 && starting > e.cfg.StartSlots {
		say("node: %d starts in %d slots", starting, e.cfg.StartSlots)
	}
	if s := e.starts.head; s != noStart {
		st := e.starts.slab[s]
		slot := e.cfg.StartSlots == 0 || n.Starting < e.cfg.StartSlots
		if _, need := e.source(st); slot && need <= n.FreeMB {
			say("start %d waits for %d MB though %d MB are free", st.seq, need, n.FreeMB)
		}
	}
}

func (e *Engine) checkRequests(say sayer) {
	for _, r := range e.requests {
		if r.state == absent {
			if r.outcome != nil {
				say("request %d ended without telling its outcome", r.id)
			}
			continue
		}
		f := e.funcs[r.fn]
		switch r.state {
		case boundStart:
			if s := e.starts.slab[r.start]; s.req != r.id || s.fn != f.ID {
				say("request %d is bound to start %d of request %d", r.id, s.seq, s.req)
			}
		case boundBox:
			if b := e.boxes[r.sandbox]; b.bound != r.id || b.State != policies.Provisioning {
				say("request %d is bound to sandbox %d, which is %v", r.id, b.ID, b.State)
			}
		case boxQueue, running:
			if b := e.boxes[r.sandbox]; b.State != policies.Busy {
				say("request %d counts on sandbox %d, which is %v", r.id, b.ID, b.State)
			}
		case late, absent:
		}
	}
}

// tally is what a function's counts should be.
type tally struct {
	available, idle, busy, provisioning, bound, pinned int
	held                                               int64
}

func (e *Engine) tally(f *function) tally {
	var t tally
	for _, b := range e.boxes {
		if b.Fn != f.ID || b.State == policies.Gone {
			continue
		}
		t.held += b.MB
		if b.Pinned {
			t.pinned++
		}
		if b.draining || b.State == policies.Dying || b.Form != policies.FormFull {
			continue
		}
		switch b.State {
		case policies.Provisioning:
			t.provisioning++
			if b.bound != policies.NoRequest {
				t.bound++
			}
		case policies.Idle:
			t.idle++
			t.available++
		case policies.Busy:
			t.busy++
			if b.Running < b.Slots && !f.Spec.OneShot {
				t.available++
			}
		case policies.Gone, policies.Dying:
		}
	}
	return t
}

func (e *Engine) checkFunction(f *function, say sayer) {
	t := e.tally(f)
	got := tally{f.Available, f.IdleCount, f.BusyCount, f.Provisioning, f.boundBoxes, f.pinned, f.HeldMB}
	if got != t || f.Live != t.idle+t.busy+t.provisioning {
		say("function %d: counts %+v live %d, counted %+v", f.ID, got, f.Live, t)
	}
	if f.late.n > 0 && f.Available > 0 {
		say("function %d: %d late-bound requests wait beside %d free sandboxes", f.ID, f.late.n, f.Available)
	}
	if f.bound.n > 0 && f.Available > 0 {
		say("function %d: %d requests wait for memory beside %d free sandboxes", f.ID, f.bound.n, f.Available)
	}
	if f.late.n > 0 && f.Live == 0 && f.Queued == 0 {
		say("function %d: %d requests are stranded", f.ID, f.late.n)
	}
	if f.pinned > max(f.Spec.Min, 0) {
		say("function %d: %d sandboxes pinned for a minimum of %d", f.ID, f.pinned, f.Spec.Min)
	}
	waiting, inFlight := 0, 0
	for _, r := range e.requests {
		if r.fn != f.ID || r.state == absent {
			continue
		}
		inFlight++
		if r.state != running {
			waiting++
		}
	}
	if f.InFlight != inFlight {
		say("function %d: %d requests in flight, counted %d", f.ID, f.InFlight, inFlight)
	}
	queued, lateQueued := 0, 0
	for id := f.queued.head; id != noStart; id = e.starts.slab[id].fnext {
		queued++
		if s := e.starts.slab[id]; s.cause == policies.ForDemand && s.req == policies.NoRequest {
			lateQueued++
		}
	}
	if f.Waiting != waiting || f.Queued != queued || f.lateQueued != lateQueued {
		say("function %d: waiting %d, queued %d, late %d, counted %d, %d, %d",
			f.ID, f.Waiting, f.Queued, f.lateQueued, waiting, queued, lateQueued)
	}
	promised := 0
	if e.promised(f) != noStart {
		promised = 1
	}
	if f.lateQueued > max(f.needed(), promised) {
		say("function %d: %d starts queued, %d needed, %d promised", f.ID, f.lateQueued, f.needed(), promised)
	}
}
