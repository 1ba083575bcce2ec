package engine_test

import (
	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// arrive: Case I and Case II of CIDRE section 3.4.
func (m *refModel) arrive(f *refFn, id policies.RequestID) {
	m.nreq++
	r := &refReq{id: id, order: m.nreq, fn: f, arrived: m.now}
	best := m.pick(f)
	switch {
	case !f.defined:
		m.emit(engine.Action{Kind: engine.ActReject, Fn: f.id, Req: id, Reason: engine.ReasonForgotten})
		return
	case f.spec.MB > m.pool:
		m.emit(engine.Action{Kind: engine.ActReject, Fn: f.id, Req: id, Reason: engine.ReasonTooLarge})
		return
	case m.cfg.queue > 0 && best == nil && len(m.waiting(f, anyReq)) >= m.cfg.queue:
		m.emit(engine.Action{Kind: engine.ActReject, Fn: f.id, Req: id, Reason: engine.ReasonQueueFull})
		return
	}
	f.arrived++
	if f.first == policies.Never {
		f.first = m.now
	}
	m.reqs[id] = r
	if best != nil {
		m.run(r, best)
		return
	}
	m.block(r)
}

// pick: the most recently used of the sandboxes with a free slot.
func (m *refModel) pick(f *refFn) *refBox {
	var best *refBox
	for _, b := range m.of(f, (*refBox).available) {
		if best == nil || b.turn > best.turn {
			best = b
		}
	}
	return best
}

func (m *refModel) block(r *refReq) {
	r.waiting, r.waited = true, true
	start, bind, again, o := m.scale.blocked(m, r)
	r.outcome = o
	if bind && start > 0 && m.room(r.fn) > 0 {
		r.wish = m.wish(r.fn, r)
		start--
	}
	m.apply(r.fn, start, again)
}

func (m *refModel) apply(f *refFn, start int, again policies.Time) {
	for n := min(start, m.room(f)); n > 0; n-- {
		m.wish(f, nil)
	}
	m.unstrand(f)
	if f.again = again; again != policies.Never {
		f.again = max(again, m.now+1)
	}
	m.pump()
	m.trim(f)
}

func (m *refModel) unstrand(f *refFn) {
	if len(m.late(f)) > 0 && m.live(f) == 0 && m.queued(f) == 0 {
		m.wish(f, nil)
	}
}

func (m *refModel) recheck(f *refFn) {
	if f.defined {
		start, again := m.scale.recheck(m, f)
		m.apply(f, start, again)
	}
}

func (m *refModel) run(r *refReq, b *refBox) {
	kind := policies.Warm
	if r.waited {
		kind = policies.Delayed
		if b.uses == 0 && b.readyAt >= r.arrived {
			kind = policies.Cold
		}
	}
	m.turn++
	if len(b.running) == 0 {
		b.busyTurn = m.turn
	}
	b.state, b.turn, b.lastUse = refBusy, m.turn, m.now
	b.uses++
	b.running = append(b.running, r)
	r.waiting = false
	m.emit(engine.Action{
		Kind: engine.ActRun, Fn: b.fn.id, Req: r.id, Sandbox: b.name, Start: kind,
		Blocked: r.blocked && kind == policies.Delayed, Wait: m.now.Sub(r.arrived), Revision: b.rev,
	})
	if o := r.outcome; o != nil {
		r.outcome = nil
		if kind == policies.Cold {
			o.Cold(m.now, m.now.Sub(r.arrived))
		} else {
			o.Delayed(m.now, m.now.Sub(r.arrived))
		}
	}
	m.scale.used(m, b)
	m.evict.used(m, b)
}

// serve: in the order of arrival who is late-bound, or bound to a start without
// memory.
func (m *refModel) serve(f *refFn) {
	for {
		b := m.pick(f)
		if b == nil {
			break
		}
		list := m.waiting(f, func(r *refReq) bool { return r.box == nil })
		if len(list) == 0 {
			break
		}
		if list[0].wish != nil {
			m.unwish(list[0].wish)
			list[0].blocked = true
		}
		m.run(list[0], b)
	}
	m.trim(f)
}

func (m *refModel) overdue(w *refWish) bool {
	return !(w.mb <= m.free()+m.dying()+m.idle() ||
		m.now.Sub(w.wanted) < max(m.cfg.starve, 2*w.fn.coldNow()))
}

func (m *refModel) cancel(id policies.RequestID) {
	r := m.reqs[id]
	if r == nil || !r.waiting {
		return
	}
	m.abandon(r)
	m.unstrand(r.fn)
	m.trim(r.fn)
}

func (m *refModel) abandon(r *refReq) {
	if r.wish != nil {
		m.unwish(r.wish)
	}
	if r.box != nil {
		r.box.bound = nil
	}
	delete(m.reqs, r.id)
	if r.outcome != nil {
		r.outcome.Abandoned(m.now, m.now.Sub(r.arrived))
	}
}

func (m *refModel) reject(r *refReq, why engine.Reason) {
	m.abandon(r)
	m.emit(engine.Action{Kind: engine.ActReject, Fn: r.fn.id, Req: r.id, Reason: why, Wait: m.now.Sub(r.arrived)})
}
