package engine_test

import (
	"slices"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// step is one event; due timers run first, then what the event frees.
func (m *refModel) step(now policies.Time, ev engine.Event) []engine.Action {
	m.now, m.out = max(m.now, now), nil
	m.timers()
	switch ev.Kind {
	case engine.EvDefine:
		m.define(ev.Fn, ev.Spec)
	case engine.EvForget:
		m.forget(m.fns[ev.Fn])
	case engine.EvEstimate:
		m.fns[ev.Fn].told = ev.Dur
	case engine.EvArrive:
		m.arrive(m.fns[ev.Fn], ev.Req)
	case engine.EvCancel:
		m.cancel(ev.Req)
	case engine.EvFinished:
		m.finished(ev)
	case engine.EvReturned:
		m.returned(ev)
	case engine.EvReady:
		m.ready(m.boxes[ev.Sandbox])
	case engine.EvFailed:
		m.failed(m.boxes[ev.Sandbox], ev.Fault)
	case engine.EvDied:
		m.died(m.boxes[ev.Sandbox])
	case engine.EvGone:
		m.boxes[ev.Sandbox].state = refGone
	case engine.EvResize:
		m.pool = ev.MB
	}
	m.fit()
	m.pump()
	m.expire()
	return m.out
}

func (m *refModel) nextTimer() (policies.Time, bool) {
	t := policies.Never
	for _, f := range m.fns {
		t = policies.Earliest(t, f.again)
	}
	for _, w := range m.back {
		t = policies.Earliest(t, w.due)
	}
	for _, b := range m.boxes {
		if b.state == refIdle {
			t = policies.Earliest(t, m.evict.due(m, b))
		}
	}
	return t, t != policies.Never
}

// timers: rechecks in order of their moment, then the ends of back-offs.
func (m *refModel) timers() {
	for {
		var next *refFn
		for _, f := range m.fns {
			if f.again != policies.Never && f.again <= m.now && (next == nil || f.again < next.again) {
				next = f
			}
		}
		if next == nil {
			break
		}
		next.again = policies.Never
		m.recheck(next)
	}
	slices.SortFunc(m.back, func(a, b *refWish) int {
		if a.due != b.due {
			return int(a.due - b.due)
		}
		return int(a.seq) - int(b.seq)
	})
	for len(m.back) > 0 && m.back[0].due <= m.now {
		m.fifo = append(m.fifo, m.back[0])
		m.back = m.back[1:]
	}
}

func (m *refModel) expire() {
	for {
		var next *refBox
		for _, b := range m.boxes {
			if b.state != refIdle {
				continue
			}
			if d := m.evict.due(m, b); d != policies.Never && d <= m.now &&
				(next == nil || d < m.evict.due(m, next)) {
				next = b
			}
		}
		if next == nil {
			return
		}
		m.evictBox(next, engine.ReasonExpired)
	}
}

func (m *refModel) define(id policies.FuncID, spec policies.Spec) {
	spec.Slots = max(1, spec.Slots)
	if int(id) == len(m.fns) {
		m.fns = append(m.fns, &refFn{id: id, spec: spec, defined: true})
		return
	}
	f := m.fns[id]
	old := f.spec
	f.spec, f.defined = spec, true
	if old.Revision != spec.Revision || old.MB != spec.MB || old.Slots != spec.Slots || old.OneShot != spec.OneShot {
		m.retire(f, engine.ReasonRevision)
	}
	m.recheck(f)
}

// retire ends the sandboxes of older revisions: what is being provisioned,
// newest first; what is idle, most recently used first; busy ones drain.
func (m *refModel) retire(f *refFn, why engine.Reason) {
	for _, w := range m.wishes(f) {
		w.mb = f.spec.MB
	}
	starting := m.of(f, func(b *refBox) bool { return b.state == refStarting })
	slices.Reverse(starting)
	for _, b := range starting {
		if r := b.bound; r != nil {
			b.bound, r.box = nil, nil
			r.wish = m.wish(f, r)
		}
		m.destroy(b, why)
	}
	idle := m.of(f, func(b *refBox) bool { return b.live() && b.state == refIdle })
	slices.SortFunc(idle, func(a, b *refBox) int { return b.turn - a.turn })
	for _, b := range idle {
		m.destroy(b, why)
	}
	busy := m.of(f, func(b *refBox) bool { return b.live() && b.state == refBusy })
	slices.SortFunc(busy, func(a, b *refBox) int { return b.busyTurn - a.busyTurn })
	for _, b := range busy {
		m.drain(b, why)
	}
}

func (m *refModel) forget(f *refFn) {
	if !f.defined {
		return
	}
	f.defined = false
	for _, r := range m.late(f) {
		m.reject(r, engine.ReasonForgotten)
	}
	for _, r := range m.bound(f) {
		m.reject(r, engine.ReasonForgotten)
	}
	rest := m.waiting(f, anyReq) // newest sandbox first
	slices.SortFunc(rest, func(a, b *refReq) int { return int(b.box.name - a.box.name) })
	for _, r := range rest {
		m.reject(r, engine.ReasonForgotten)
	}
	for _, w := range m.wishes(f) {
		m.unwish(w)
	}
	m.retire(f, engine.ReasonForgotten)
	f.again = policies.Never
}

func (m *refModel) emit(a engine.Action) { m.out = append(m.out, a) }
