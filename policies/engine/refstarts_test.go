package engine_test

import (
	"slices"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

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

// unneeded: there are more late-bound starts than waiting - provisioning.
func (m *refModel) unneeded(f *refFn) bool {
	n := 0
	for _, w := range m.wishes(f) {
		if w.req == nil {
			n++
		}
	}
	return n > max(0, len(m.late(f))-m.coming(f))
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
			}
			m.rejectUncovered(w.fn, engine.ReasonTooLarge)
		case m.cfg.slots > 0 && inProgress >= m.cfg.slots:
			return
		case w.mb <= m.free():
			m.grant(w)
		case w.mb <= m.free()+m.dying():
			return
		case w.req == nil && len(w.evicted) > 0 && m.unneeded(w.fn):
			m.unwish(w)
		case w.mb > m.free()+m.dying()+m.idle():
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
	f := w.fn
	if w.req != nil { // the oldest that is bound to a start has it
		o := m.bound(f)[0]
		o.wish.req, w.req.wish = w.req, o.wish
		o.wish, w.req = w, o
	}
	r := w.req
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
