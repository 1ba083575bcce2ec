package engine_test

import (
	"slices"

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
	if len(m.late(f)) > 0 && m.live(f) == 0 && m.queued(f) == 0 && m.room(f) > 0 {
		m.wish(f, nil)
	}
	if f.again = again; again != policies.Never {
		f.again = max(again, m.now+1)
	}
	m.pump()
	m.trim(f)
}

func (m *refModel) recheck(f *refFn) {
	if f.defined {
		start, again := m.scale.recheck(m, f)
		m.apply(f, start, again)
	}
}

func (m *refModel) wish(f *refFn, r *refReq) *refWish {
	m.seq++
	w := &refWish{seq: m.seq, fn: f, mb: f.spec.MB, req: r, wanted: m.now}
	m.fifo = append(m.fifo, w)
	return w
}

func (m *refModel) unwish(w *refWish) {
	is := func(x *refWish) bool { return x == w }
	m.fifo, m.back = slices.DeleteFunc(m.fifo, is), slices.DeleteFunc(m.back, is)
	if w.req != nil {
		w.req.wish = nil
	}
}

// trim: queued starts beyond waiting - provisioning go, newest first. One
// that others were evicted for is as good as issued and stays.
func (m *refModel) trim(f *refFn) {
	need := len(m.late(f)) - m.coming(f)
	var list []*refWish
	for _, w := range m.wishes(f) {
		switch {
		case w.req != nil:
		case len(w.evicted) > 0 && w.mb <= m.free()+m.dying():
			need--
		default:
			list = append(list, w)
		}
	}
	for len(list) > max(0, need) {
		m.unwish(list[len(list)-1])
		list = list[:len(list)-1]
	}
}

// pump grants in strict order.
func (m *refModel) pump() {
	for len(m.fifo) > 0 {
		w := m.fifo[0]
		inProgress := 0
		for _, f := range m.fns {
			inProgress += m.starting(f)
		}
		switch {
		case w.mb > m.pool:
			m.unwish(w)
			if w.req != nil {
				m.reject(w.req, engine.ReasonTooLarge)
			} else {
				m.rejectUncovered(w.fn, engine.ReasonTooLarge)
			}
		case m.cfg.slots > 0 && inProgress >= m.cfg.slots:
			return
		case w.mb <= m.free():
			m.grant(w)
		case w.mb <= m.free()+m.dying() || w.mb > m.free()+m.dying()+m.idle():
			return
		default:
			m.makeRoom(w)
			return
		}
	}
}

// makeRoom evicts the shortest prefix of the order that makes it fit.
func (m *refModel) makeRoom(w *refWish) {
	for w.mb > m.free()+m.dying() {
		boxes, prio := m.evict.order(m)
		for i, b := range boxes {
			if w.mb <= m.free()+m.dying() {
				return
			}
			w.evicted = append(w.evicted, prio[i])
			m.evict.victim(m, b, prio[i])
			m.evictBox(b, engine.ReasonPressure)
		}
	}
}

func (m *refModel) evictBox(b *refBox, why engine.Reason) {
	m.scale.evicted(m, b)
	m.destroy(b, why)
}

func (m *refModel) grant(w *refWish) {
	f, r := w.fn, w.req
	m.unwish(w)
	b := &refBox{
		name: policies.SandboxID(len(m.boxes)), fn: f, wish: w, rev: f.spec.Revision, mb: w.mb,
		slots: f.spec.Slots, started: m.now, bound: r,
	}
	m.boxes = append(m.boxes, b)
	if r != nil {
		r.box = b
	}
	m.scale.started(m, b)
	m.evict.started(m, b)
	m.emit(engine.Action{Kind: engine.ActStart, Fn: f.id, Sandbox: b.name, From: policies.NoSandbox, Revision: b.rev, MB: b.mb})
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

// serve: the late-bound in order, then who is bound to a start without memory.
func (m *refModel) serve(f *refFn) {
	for {
		b := m.pick(f)
		if b == nil {
			break
		}
		if late := m.late(f); len(late) > 0 {
			m.run(late[0], b)
			continue
		}
		bound := m.waiting(f, func(r *refReq) bool { return r.wish != nil })
		if len(bound) == 0 {
			break
		}
		m.unwish(bound[0].wish)
		bound[0].blocked = true
		m.run(bound[0], b)
	}
	m.trim(f)
}

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
	w := m.fifo[0]
	if w.fn == f || w.mb <= m.free()+m.dying()+m.idle() ||
		m.now.Sub(w.wanted) < max(m.cfg.starve, 2*w.fn.spec.ColdEst) {
		return false
	}
	held := func(f *refFn) int64 { return m.sumMB(func(b *refBox) bool { return b.fn == f }) }
	return !slices.ContainsFunc(m.fns, func(o *refFn) bool { return held(o) > held(f) })
}

func (m *refModel) returned(ev engine.Event) {
	b, r := m.boxes[ev.Sandbox], m.reqs[ev.Req]
	m.leaveBox(b, r)
	m.drain(b, engine.ReasonUnusable)
	best := m.pick(b.fn)
	switch {
	case !b.fn.defined:
		r.waiting = true
		m.reject(r, engine.ReasonForgotten)
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
	switch {
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
	default:
		m.rejectUncovered(f, why)
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

func (m *refModel) cancel(id policies.RequestID) {
	r := m.reqs[id]
	if r == nil || !r.waiting {
		return
	}
	m.abandon(r)
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
