package engine_test

import (
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

func newRefScaler(name string) refScaler {
	switch name {
	case "coldstart":
		return refCold{}
	case "bss":
		return refBSS{}
	case "css":
		return &refCSS{fns: map[*refFn]*refSwitch{}, timer: true, raced: map[*refBox]bool{}}
	case "css-literal":
		return &refCSS{fns: map[*refFn]*refSwitch{}, literal: true, raced: map[*refBox]bool{}}
	}
	panic("no reference scaler " + name)
}

// noFacts is a scaler's part that needs no observation.
type noFacts struct{}

func (noFacts) started(*refModel, *refBox) {}

func (noFacts) ready(*refModel, *refBox) {}

func (noFacts) used(*refModel, *refBox) {}

func (noFacts) finished(*refModel, *refFn, time.Duration) {}

func (noFacts) evicted(*refModel, *refBox) {}

func (noFacts) gone(*refModel, *refBox) {}

func (noFacts) recheck(*refModel, *refFn) (int, policies.Time) { return 0, policies.Never }

// refCold: one start for each, and bound to it.
type refCold struct{ noFacts }

func (refCold) blocked(*refModel, *refReq) (int, bool, policies.Time, policies.Outcome) {
	return 1, true, policies.Never, nil
}

// short: those who wait and have no start on its way.
func (m *refModel) short(f *refFn) int {
	return max(0, len(m.waiting(f, anyReq))-m.starting(f)-m.queued(f))
}

// refBSS: section 3.2.
type refBSS struct{ noFacts }

func (refBSS) blocked(*refModel, *refReq) (int, bool, policies.Time, policies.Outcome) {
	return 1, false, policies.Never, nil
}

func (refBSS) recheck(m *refModel, f *refFn) (int, policies.Time) { return m.short(f), policies.Never }

// refCSS: Algorithm 1 and its table of gaps.
type refCSS struct {
	fns     map[*refFn]*refSwitch
	raced   map[*refBox]bool
	literal bool // td=completed
	timer   bool
}

type refSample struct {
	at policies.Time
	d  time.Duration
}

type refSwitch struct {
	off        bool
	exec, cold []refSample
	last       *refBox // of a race, the one that became ready last
	idle       time.Duration
	used, lost bool
	waits      []refSample // wait-only delayed starts since the switch went off
}

const refWindow = 15 * time.Minute

func (c *refCSS) of(f *refFn) *refSwitch {
	if c.fns[f] == nil {
		c.fns[f] = &refSwitch{}
	}
	return c.fns[f]
}

func refMedian(now policies.Time, all []refSample) (time.Duration, bool) {
	var in []time.Duration
	for _, s := range all {
		if now.Sub(s.at) <= refWindow {
			in = append(in, s.d)
		}
	}
	if len(in) == 0 {
		return 0, false
	}
	slices.Sort(in)
	low, high := in[(len(in)-1)/2], in[len(in)/2]
	return low + (high-low)/2, true
}

func (c *refCSS) tp(m *refModel, f *refFn) time.Duration {
	if d, ok := refMedian(m.now, c.of(f).cold); ok {
		return d
	}
	if f.coldNow() > 0 {
		return f.coldNow()
	}
	return time.Duration(f.spec.MB) * 1700 * time.Microsecond
}

// wasteful: T_i > T_e.
func (c *refCSS) wasteful(m *refModel, f *refFn) bool {
	s := c.of(f)
	te, known := refMedian(m.now, s.exec)
	switch {
	case !known || s.last == nil || m.now.Sub(s.last.readyAt) > refWindow:
		return false
	case s.lost:
		return true
	case s.used:
		return s.idle > te
	}
	return m.now.Sub(s.last.readyAt) > te
}

func (m *refModel) headAge(f *refFn) (time.Duration, bool) {
	if late := m.late(f); len(late) > 0 {
		return m.now.Sub(late[0].arrived), true
	}
	return 0, false
}

func (c *refCSS) td(m *refModel, f *refFn) (d time.Duration) {
	if w := c.of(f).waits; len(w) > 0 && m.now.Sub(w[len(w)-1].at) <= refWindow {
		d = w[len(w)-1].d
	}
	if age, ok := m.headAge(f); ok && !c.literal {
		d = max(d, age)
	}
	return d
}

func (s *refSwitch) enable() { s.off, s.last = false, nil }

func (c *refCSS) again(m *refModel, f *refFn) policies.Time {
	if age, ok := m.headAge(f); ok && c.timer {
		return m.now.Add(c.tp(m, f) - age)
	}
	return policies.Never
}

func (c *refCSS) blocked(m *refModel, r *refReq) (int, bool, policies.Time, policies.Outcome) {
	f := r.fn
	s := c.of(f)
	switch {
	case !s.off && c.wasteful(m, f):
		s.off, s.waits = true, nil
	case s.off && c.td(m, f) > c.tp(m, f):
		s.enable()
	}
	switch {
	case !s.off:
		return 1, false, c.again(m, f), nil
	case m.live(f) == 0 && m.queued(f) == 0:
		return 1, false, c.again(m, f), s
	}
	return 0, false, c.again(m, f), s
}

func (c *refCSS) recheck(m *refModel, f *refFn) (int, policies.Time) {
	age, waits := m.headAge(f)
	switch {
	case !waits:
		return 0, policies.Never
	case c.timer && age >= c.tp(m, f):
		if s := c.of(f); s.off {
			s.enable()
		}
		return m.short(f), policies.Never
	case m.live(f) == 0 && m.queued(f) == 0:
		return 1, c.again(m, f)
	}
	return 0, c.again(m, f)
}

func (s *refSwitch) Delayed(now policies.Time, wait time.Duration) {
	s.waits = append(s.waits, refSample{now, wait})
}

func (s *refSwitch) Cold(policies.Time, time.Duration) {}

func (s *refSwitch) Abandoned(policies.Time, time.Duration) {}

func (c *refCSS) started(_ *refModel, b *refBox) { c.raced[b] = !c.of(b.fn).off }

func (c *refCSS) ready(m *refModel, b *refBox) {
	s := c.of(b.fn)
	s.cold = append(s.cold, refSample{m.now, b.readyAt.Sub(b.started)})
	if c.raced[b] {
		s.last, s.used, s.lost = b, false, false
	}
}

func (c *refCSS) used(m *refModel, b *refBox) {
	if s := c.of(b.fn); s.last == b && !s.used && !s.lost {
		s.used, s.idle = true, m.now.Sub(b.readyAt)
	}
}

func (c *refCSS) finished(m *refModel, f *refFn, exec time.Duration) {
	s := c.of(f)
	s.exec = append(s.exec, refSample{m.now, exec})
}

func (c *refCSS) evicted(_ *refModel, b *refBox) {
	if s := c.of(b.fn); s.last == b && !s.used {
		s.lost = true
	}
}

func (c *refCSS) gone(_ *refModel, b *refBox) {
	if s := c.of(b.fn); s.last == b && !s.used && !s.lost {
		s.last = nil // died unused: tells nothing
	}
}

// Evictors.

func (refLRU) order(m *refModel) ([]*refBox, []float64) {
	return m.sorted(func(b *refBox) float64 { return 0 })
}

func (refLRU) victim(*refModel, *refBox, float64) {}

func (refLRU) due(*refModel, *refBox) policies.Time { return policies.Never }

func (refLRU) started(*refModel, *refBox) {}

func (refLRU) ready(*refModel, *refBox) {}

func (refLRU) used(*refModel, *refBox) {}

func (refLRU) gone(*refModel, *refBox) {}

func (refTTL) due(_ *refModel, b *refBox) policies.Time { return b.lastUse.Add(refKeep) }
