package engine

import (
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/heap"
)

// NextTimer returns the next moment at which EvTick must be fed, false if
// there is none. It is valid until the next Step.
func (e *Engine) NextTimer() (policies.Time, bool) {
	t := policies.Never
	if _, k, ok := e.timer.Min(); ok {
		t = policies.Earliest(t, policies.Time(k.B))
	}
	if _, k, ok := e.back.Min(); ok {
		t = policies.Earliest(t, policies.Time(k.B))
	}
	if e.expireIs {
		t = policies.Earliest(t, e.expireAt)
	}
	if e.cfg.Prewarmer != nil {
		t = policies.Earliest(t, e.nextPlan())
	}
	return t, t != policies.Never
}

// setAgain sets the moment of the function's next Recheck. A policy cannot
// make time stand still: a moment that is not in the future is the next one.
func (e *Engine) setAgain(f *function, t policies.Time) {
	if t != policies.Never {
		t = max(t, e.now+1)
	}
	f.againAt = t
	e.setTimer(f)
}

func (e *Engine) setTimer(f *function) {
	t := policies.Earliest(f.againAt, f.minAt)
	switch {
	case t != policies.Never:
		e.timer.Set(int32(f.ID), heap.Key{B: int64(t)})
	case e.timer.Len() > 0:
		e.timer.Remove(int32(f.ID))
	}
}

func (e *Engine) runTimers() {
	for {
		id, k, ok := e.timer.Min()
		if !ok || policies.Time(k.B) > e.now {
			break
		}
		f := e.funcs[id]
		due := f.againAt != policies.Never && f.againAt <= e.now
		if due {
			f.againAt = policies.Never
		}
		if f.minAt != policies.Never && f.minAt <= e.now {
			f.minAt = policies.Never // even if there is no minimum any more
			e.ensureMin(f)
		}
		e.setTimer(f)
		if due {
			e.recheck(f)
		}
	}
	for {
		id, k, ok := e.back.Min()
		if !ok || policies.Time(k.B) > e.now {
			break
		}
		s := e.starts.slab[id]
		e.back.Remove(id)
		e.enqueue(s)
	}
	e.plan()
}

// nextPlan returns when the prewarmer is to be asked again. Like every policy
// it cannot make time stand still.
func (e *Engine) nextPlan() policies.Time {
	if e.waker == nil {
		return e.planAt
	}
	wake := e.waker.Wake()
	if wake != policies.Never {
		wake = max(wake, e.planned+1)
	}
	return policies.Earliest(e.planAt, wake)
}

// plan asks the prewarmer, the first time at the first Step.
func (e *Engine) plan() {
	if e.cfg.Prewarmer == nil {
		return
	}
	if next := e.nextPlan(); e.planned != policies.Never && (next == policies.Never || next > e.now) {
		return
	}
	wants, next := e.cfg.Prewarmer.Plan(&e.state)
	e.planned, e.planAt = e.now, next
	if next <= e.now && (next != policies.Never || e.waker == nil) {
		e.planAt = e.now.Add(time.Second) // without a Waker, Never is "at leisure"
	}
	for _, w := range wants {
		f := e.fn(w.Fn)
		if f == nil || !f.defined {
			continue
		}
		f.KeepUntil = w.KeepUntil
		for n := min(w.N-f.Live-f.Queued, f.room()); n > 0; n-- {
			e.want(f, policies.ForPrewarm, policies.NoRequest, w.MayEvict)
		}
	}
	e.pump()
}

// expire destroys or demotes idle sandboxes whose time has come, and reports
// whether it demoted any.
func (e *Engine) expire() (demoted bool) {
	for !e.expireIs || (e.expireAt != policies.Never && e.expireAt <= e.now) {
		id, form, next := e.cfg.Evictor.Expire(&e.state)
		b := e.box(id)
		if b == nil || !b.evictable {
			e.expireAt, e.expireIs = next, true
			if next != policies.Never && next <= e.now {
				e.expireAt = e.now + 1
			}
			return demoted
		}
		if form == policies.FormGone {
			e.evict(b, 0, ReasonExpired)
			continue
		}
		e.demote(b, form)
		demoted = true
	}
	return demoted
}

// demote asks for less of an idle sandbox. It serves nobody from now on. Until
// EvReshaped its memory is charged as before, and it is neither evicted nor
// used up: the mechanism is at work on it.
func (e *Engine) demote(b *box, form policies.Form) {
	e.retract(b)
	if f := e.funcs[b.Fn]; b.Form == policies.FormFull {
		e.unavailable(f, b)
		e.count(f, b, -1, &f.IdleCount)
	}
	b.Form, b.reshaping = form, true
	e.emit(Action{Kind: ActReshape, Fn: b.Fn, Sandbox: b.ID, Form: form, MB: b.MB})
}

// starved reports whether a sandbox of f that comes free must make way: the
// start at the head of the queue has waited too long for memory, and no
// function holds more than f. Old starts of f itself do not count: its
// sandboxes serve its requests already. They let the others pass.
func (e *Engine) starved(f *function) bool {
	if !e.overdue() || !e.largest(f) {
		return false
	}
	for n := f.Queued; n > 0 && e.node.QueuedStarts > f.Queued; n-- {
		s := e.starts.slab[e.starts.head]
		if s.fn != f.ID {
			break
		}
		e.dequeue(s)
		e.enqueue(s)
	}
	return e.starts.slab[e.starts.head].fn != f.ID && e.overdue()
}

// overdue reports whether the head of the queue has waited for memory for
// longer than it should, and none is on its way.
func (e *Engine) overdue() bool {
	if e.cfg.StarveMin == 0 || e.starts.head == noStart {
		return false
	}
	s, n := e.starts.slab[e.starts.head], &e.node
	return s.mb > n.FreeMB+n.DyingMB+n.IdleMB &&
		e.now.Sub(s.wanted) >= max(e.cfg.StarveMin, 2*e.funcs[s.fn].ColdNow)
}

// largest reports whether no function holds more memory than f.
func (e *Engine) largest(f *function) bool {
	for _, o := range e.funcs {
		if o.HeldMB > f.HeldMB {
			return false
		}
	}
	return true
}
