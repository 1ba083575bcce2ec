package engine_test

import (
	"cmp"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

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

// refTTL: LRU under pressure, and destroyed after the keep-alive.
type refTTL struct{ refLRU }

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
		if f.coldNow() > 0 {
			return float64(f.coldNow()) / 1e6
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

func (c *refFaas) started(m *refModel, b *refBox) { c.changed(m, b) }

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

func (c *refCIP) victim(*refModel, *refBox, float64) {}

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
