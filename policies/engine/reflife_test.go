package engine_test

import (
	"slices"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

func (m *refModel) ready(b *refBox) {
	if b.state != refStarting {
		return
	}
	m.turn++
	b.state, b.readyAt, b.lastUse, b.turn = refIdle, m.now, m.now, m.turn
	m.scale.ready(m, b)
	m.evict.ready(m, b)
	if r := b.bound; r != nil {
		b.bound, r.box = nil, nil
		m.run(r, b)
	}
	m.serve(b.fn)
	m.recheck(b.fn)
}

func (m *refModel) finished(ev engine.Event) {
	b, r := m.boxes[ev.Sandbox], m.reqs[ev.Req]
	delete(m.reqs, ev.Req)
	m.leaveBox(b, r)
	b.served = true
	m.scale.finished(m, b.fn, ev.Dur)
	switch {
	case !ev.OK || b.fn.spec.OneShot:
		m.drain(b, engine.ReasonUnusable)
	case m.starved(b.fn):
		m.drain(b, engine.ReasonStarved)
	}
	m.release(b)
}

func (m *refModel) leaveBox(b *refBox, r *refReq) {
	b.running = slices.DeleteFunc(b.running, func(x *refReq) bool { return x == r })
	m.turn++
	b.lastUse, b.turn = m.now, m.turn
}

func (m *refModel) release(b *refBox) {
	if b.draining {
		if len(b.running) == 0 && b.state == refBusy {
			m.destroy(b, b.reason)
		}
		m.recheck(b.fn)
		return
	}
	m.serve(b.fn)
	if len(b.running) == 0 {
		b.state = refIdle
	}
	m.recheck(b.fn)
}

func (m *refModel) starved(f *refFn) bool {
	if m.cfg.starve == 0 || len(m.fifo) == 0 {
		return false
	}
	held := func(f *refFn) int64 { return m.sumMB(func(b *refBox) bool { return b.fn == f }) }
	if !m.overdue(m.fifo[0]) || slices.ContainsFunc(m.fns, func(o *refFn) bool { return held(o) > held(f) }) {
		return false
	}
	// Starts of f itself at the head let the others pass.
	n := slices.IndexFunc(m.fifo, func(w *refWish) bool { return w.fn != f })
	if n < 0 {
		return false
	}
	m.fifo = append(slices.Clone(m.fifo[n:]), m.fifo[:n]...)
	return m.overdue(m.fifo[0])
}

func (m *refModel) returned(ev engine.Event) {
	b, r := m.boxes[ev.Sandbox], m.reqs[ev.Req]
	m.leaveBox(b, r)
	m.drain(b, engine.ReasonUnusable)
	if !b.served {
		r.spoilt++
	}
	best := m.pick(b.fn)
	switch {
	case !b.fn.defined:
		r.waiting = true
		m.reject(r, engine.ReasonForgotten)
	case r.spoilt > 3:
		r.waiting = true
		m.reject(r, engine.ReasonLambda)
	case best != nil:
		r.waited = true
		m.run(r, best)
	default:
		m.block(r)
	}
	m.release(b)
}

func (m *refModel) failed(b *refBox, fault engine.Fault) {
	if b.state != refStarting {
		return
	}
	f, r, attempts := b.fn, b.bound, b.wish.attempts+1
	m.leave(b)
	b.state, b.bound = refGone, nil
	why := engine.ReasonHost
	if fault == engine.FaultLambda {
		why = engine.ReasonLambda
	}
	again := fault == engine.FaultHost && attempts <= 3
	best := m.pick(f)
	switch {
	case r != nil && best != nil:
		r.box = nil
		m.run(r, best)
	case again && (r != nil || len(m.late(f)) > 0):
		w := m.wish(f, r)
		w.attempts = attempts
		w.due = m.now.Add(100 * ms << (attempts - 1))
		m.fifo = m.fifo[:len(m.fifo)-1]
		m.back = append(m.back, w)
		if r != nil {
			r.box, r.wish = nil, w
		}
	case r != nil:
		r.box = nil
		m.reject(r, why)
		if fault == engine.FaultLambda && m.live(f) == 0 {
			for _, r := range m.bound(f) {
				m.reject(r, why)
			}
		}
	default:
		m.rejectUncovered(f, why)
		if len(m.late(f)) > 0 { // covered by another sandbox: no hurry
			f.again = policies.Earliest(f.again, m.now.Add(100*ms))
			m.unstrand(f)
			return
		}
	}
	m.recheck(f)
}

// rejectUncovered: nobody but another sandbox can serve them, newest first.
func (m *refModel) rejectUncovered(f *refFn, why engine.Reason) {
	if len(m.of(f, func(b *refBox) bool { return b.live() && b.state != refStarting })) > 0 {
		return
	}
	cover := m.coming(f) * f.spec.Slots
	for late := m.late(f); len(late) > cover; late = late[:len(late)-1] {
		m.reject(late[len(late)-1], why)
	}
	m.trim(f)
}

func (m *refModel) died(b *refBox) {
	if b.draining || (b.state != refIdle && b.state != refBusy) {
		return
	}
	if b.state == refIdle {
		m.destroy(b, engine.ReasonUnusable)
	} else {
		m.drain(b, engine.ReasonUnusable)
	}
	m.recheck(b.fn)
}

func (m *refModel) drain(b *refBox, why engine.Reason) {
	if !b.draining {
		b.draining, b.reason = true, why
		m.scale.gone(m, b)
		m.evict.gone(m, b)
	}
}

func (m *refModel) leave(b *refBox) {
	b.state = refDying
	m.scale.gone(m, b)
	m.evict.gone(m, b)
}

func (m *refModel) destroy(b *refBox, why engine.Reason) {
	if b.draining {
		b.state = refDying
	} else {
		m.leave(b)
	}
	m.emit(engine.Action{Kind: engine.ActDestroy, Fn: b.fn.id, Sandbox: b.name, Reason: why, MB: b.mb, Revision: b.rev})
}
