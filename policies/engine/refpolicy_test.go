package engine_test

import (
	"cmp"
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

func (noFacts) started(*refModel, *refBox)                     {}
func (noFacts) ready(*refModel, *refBox)                       {}
func (noFacts) used(*refModel, *refBox)                        {}
func (noFacts) finished(*refModel, *refFn, time.Duration)      {}
func (noFacts) evicted(*refModel, *refBox)                     {}
func (noFacts) gone(*refModel, *refBox)                        {}
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
	if f.spec.ColdEst > 0 {
		return f.spec.ColdEst
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
func (s *refSwitch) Cold(policies.Time, time.Duration)      {}
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

func newRefEvictor(name string) refEvictor {
	switch name {
	case "lru":
		return refLRU{}
	case "ttl":
		return refTTL{}
	case "faascache", "faascache-c":
		return &refFaas{perBox: name == "faascache-c", fns: map[*refFn]*refFaasFn{}, uses: map[*refBox]int64{}}
	case "cip":
		return &refCIP{clock: map[*refBox]float64{}, cold: map[*refFn][]time.Duration{}}
	}
	panic("no reference evictor " + name)
}

// sorted is the order of a scan: by priority, last use, age.
func (m *refModel) sorted(priority func(*refBox) float64) (boxes []*refBox, prio []float64) {
	for _, b := range m.boxes {
		if b.state == refIdle {
			boxes = append(boxes, b)
		}
	}
	slices.SortFunc(boxes, func(a, b *refBox) int {
		return cmp.Or(cmp.Compare(priority(a), priority(b)), cmp.Compare(a.lastUse, b.lastUse), cmp.Compare(a.name, b.name))
	})
	for _, b := range boxes {
		prio = append(prio, priority(b))
	}
	return boxes, prio
}

type refLRU struct{}

func (refLRU) order(m *refModel) ([]*refBox, []float64) {
	return m.sorted(func(b *refBox) float64 { return 0 })
}
func (refLRU) victim(*refModel, *refBox, float64)   {}
func (refLRU) due(*refModel, *refBox) policies.Time { return policies.Never }
func (refLRU) started(*refModel, *refBox)           {}
func (refLRU) ready(*refModel, *refBox)             {}
func (refLRU) used(*refModel, *refBox)              {}
func (refLRU) gone(*refModel, *refBox)              {}

// refTTL: LRU under pressure, and destroyed after the keep-alive.
type refTTL struct{ refLRU }

func (refTTL) due(_ *refModel, b *refBox) policies.Time { return b.lastUse.Add(refKeep) }

const refKeep = 10 * time.Minute

// refFaas: Equations 1 and 2 of section 2.4.
type refFaas struct {
	perBox bool
	clock  float64
	fns    map[*refFn]*refFaasFn
	uses   map[*refBox]int64 // of live sandboxes
}

type refFaasFn struct {
	clock, priority float64
	cold            []time.Duration
}

func (c *refFaas) of(f *refFn) *refFaasFn {
	if c.fns[f] == nil {
		c.fns[f] = &refFaasFn{}
	}
	return c.fns[f]
}

func meanMS(f *refFn, cold []time.Duration) float64 {
	if len(cold) == 0 {
		if f.spec.ColdEst > 0 {
			return float64(f.spec.ColdEst) / 1e6
		}
		return float64(f.spec.MB) * 1.7
	}
	sum := 0.0
	for _, d := range cold {
		sum += float64(d) / 1e6
	}
	return sum / float64(len(cold))
}

func (c *refFaas) refresh(m *refModel, f *refFn) {
	freq := int64(0)
	for _, b := range m.of(f, (*refBox).live) {
		freq += c.uses[b]
	}
	size := float64(f.spec.MB)
	if c.perBox {
		size *= float64(max(1, m.live(f)))
	}
	s := c.of(f)
	s.priority = s.clock + float64(freq)*meanMS(f, s.cold)/size
}

func (c *refFaas) order(m *refModel) ([]*refBox, []float64) {
	// The priority is a function's, so the order within one is LRU. With K
	// in the formula each victim changes it for the rest.
	boxes, prio := m.sorted(func(b *refBox) float64 { return c.of(b.fn).priority })
	if !c.perBox || len(boxes) == 0 {
		return boxes, prio
	}
	return boxes[:1], prio[:1]
}

func (c *refFaas) victim(_ *refModel, b *refBox, priority float64) {
	c.clock = max(c.clock, priority)
}
func (c *refFaas) due(*refModel, *refBox) policies.Time { return policies.Never }
func (c *refFaas) started(m *refModel, b *refBox)       { c.changed(m, b) }
func (c *refFaas) ready(_ *refModel, b *refBox) {
	s := c.of(b.fn)
	s.cold = append(s.cold, b.readyAt.Sub(b.started))
}

func (c *refFaas) used(m *refModel, b *refBox) {
	c.uses[b]++
	c.of(b.fn).clock = c.clock
	c.refresh(m, b.fn)
}
func (c *refFaas) gone(m *refModel, b *refBox) { c.changed(m, b) }
func (c *refFaas) changed(m *refModel, b *refBox) {
	if c.perBox {
		c.refresh(m, b.fn)
	}
}

// refCIP: Equations 3 and 4 of section 3.3.
type refCIP struct {
	clock map[*refBox]float64
	cold  map[*refFn][]time.Duration
}

func (c *refCIP) gain(m *refModel, f *refFn, arrived int64) float64 {
	minutes := max(1, m.now.Sub(f.first).Minutes())
	freq := float64(arrived) / minutes
	return freq * meanMS(f, c.cold[f]) / (float64(f.spec.MB) * float64(m.live(f)))
}

func (c *refCIP) order(m *refModel) ([]*refBox, []float64) {
	return m.sorted(func(b *refBox) float64 { return c.clock[b] + c.gain(m, b.fn, b.fn.arrived) })
}
func (c *refCIP) victim(*refModel, *refBox, float64)   {}
func (c *refCIP) due(*refModel, *refBox) policies.Time { return policies.Never }
func (c *refCIP) started(_ *refModel, b *refBox) {
	if len(b.wish.evicted) > 0 {
		c.clock[b] = slices.Max(b.wish.evicted)
	}
}

func (c *refCIP) ready(_ *refModel, b *refBox) {
	c.cold[b.fn] = append(c.cold[b.fn], b.readyAt.Sub(b.started))
}

// used: the priority before this request was counted.
func (c *refCIP) used(m *refModel, b *refBox) {
	c.clock[b] += c.gain(m, b.fn, b.fn.arrived-1)
}
func (c *refCIP) gone(*refModel, *refBox) {}
