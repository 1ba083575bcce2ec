package cidre

import (
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/heap"
	"github.com/open-lambda/open-lambda/policies/stats"
)

// CIPConfig is what can be set about CIP.
type CIPConfig struct {
	// Inflated gives a new sandbox that needed no eviction the priority of
	// the last victim as its clock instead of 0.
	Inflated bool
	// ColdPerMB is the cost of a cold start without samples and without an
	// estimate, per MB of memory.
	ColdPerMB time.Duration
}

// CIP is the concurrency-informed priority (section 3.3):
//
//	Priority(c) = Clock(c) + Freq(F) * Cost(F) / (Size(c) * |F|)     (Eq. 3)
//	Freq(F)     = requests of F ever / minutes since its first one   (Eq. 4)
//
// The idle sandboxes with the lowest priority go first; ties: older last use,
// then older sandbox. Cost is the mean cold start of the function in ms; all
// sandboxes of a function share it (section 2.4). |F| counts sandboxes being
// provisioned. In the first minute the minutes of Eq. 4 count as 1.
type CIP struct {
	cfg   CIPConfig
	funcs []cipFunc // by FuncID
	clock []float64 // by SandboxID
	order order

	batch  uint64            // the start whose victims are being chosen
	victim []policies.FuncID // functions that lost sandboxes to it, |F| not reduced yet
	topOf  uint64            // the start that top is about
	top    float64           // largest priority among its victims
	last   float64           // priority of the last victim of all
	at     policies.Time
}

type cipFunc struct {
	cost stats.ColdCost
	lost int // victims of the batch: |F| counts them until it ends
}

// NewCIP returns an evictor that has seen nothing.
func NewCIP(cfg CIPConfig) *CIP {
	if cfg.ColdPerMB <= 0 {
		cfg.ColdPerMB = stats.DefaultColdPerMB
	}
	return &CIP{cfg: cfg}
}

func (c *CIP) of(id policies.FuncID) *cipFunc {
	for int(id) >= len(c.funcs) {
		c.funcs = append(c.funcs, cipFunc{})
	}
	return &c.funcs[id]
}

// gain is the second term of Equation 3 at a moment, less the requests that
// are not to be counted.
func (c *CIP) gain(f *policies.Func, at policies.Time, less int64) float64 {
	s := c.of(f.ID)
	minutes := max(1, at.Sub(f.FirstArrival).Minutes())
	freq := float64(max(0, f.Arrived-less)) / minutes
	size := float64(max(1, f.Spec.MB)) * float64(max(1, f.Live+s.lost))
	return freq * s.cost.Millis(f, c.cfg.ColdPerMB) / size
}

// Insert adds an idle sandbox.
func (c *CIP) Insert(v policies.View, id policies.SandboxID) {
	c.endBatch()
	b := v.Sandbox(id)
	c.order.insert(b, heap.Key{A: c.clockOf(id), B: int64(b.LastUse), C: b.Born})
	c.rekey(v, b.Fn)
}

// Remove takes a sandbox out that is used or on its way out.
func (c *CIP) Remove(v policies.View, id policies.SandboxID) {
	c.order.remove(v.Sandbox(id))
}

func (c *CIP) clockOf(id policies.SandboxID) float64 {
	for int(id) >= len(c.clock) {
		c.clock = append(c.clock, 0)
	}
	return c.clock[id]
}

// rekey gives a function a lower bound of its cheapest priority that holds
// until a horizon.
func (c *CIP) rekey(v policies.View, fn policies.FuncID) {
	f := v.Func(fn)
	horizon := v.Now().Add(max(minHorizon, v.Now().Sub(f.FirstArrival)/horizonShare))
	c.order.bound(fn, c.gain(f, horizon, 0), horizon)
}

// The horizon is far enough that a function is re-keyed a few times per
// doubling of its age, and near enough that the bounds stay within 5 %.
const (
	minHorizon   = time.Second
	horizonShare = 20
)

// Next names the idle sandbox with the lowest priority. Victims of one start
// are chosen by the order at its beginning, as Algorithm 2's REPLACE does:
// |F| shrinks only when all of them are chosen.
func (c *CIP) Next(v policies.View, s policies.Start) (policies.SandboxID, bool) {
	if s.Seq != c.batch || v.Now() != c.at {
		c.endBatch()
	}
	c.batch, c.at = s.Seq, v.Now()
	for fn, ok := c.order.stale(c.at); ok; fn, ok = c.order.stale(c.at) {
		c.rekey(v, fn)
	}
	id, priority, ok := c.order.min(func(fn policies.FuncID) float64 { return c.gain(v.Func(fn), c.at, 0) })
	if !ok {
		return policies.NoSandbox, false
	}
	fn := v.Sandbox(id).Fn
	c.of(fn).lost++
	c.victim = append(c.victim, fn)
	c.chosen(s.Seq, priority)
	return id, true
}

// chosen notes what a start cost. A pool that shrinks evicts for no start,
// and does not make one forget its victims.
func (c *CIP) chosen(seq uint64, priority float64) {
	c.last = priority
	if seq == 0 {
		return
	}
	if seq != c.topOf {
		c.topOf, c.top = seq, 0
	}
	c.top = max(c.top, priority)
}

// endBatch lets |F| shrink by the victims chosen so far. A lower |F| only
// raises priorities, so the bounds stay bounds.
func (c *CIP) endBatch() {
	for _, fn := range c.victim {
		c.funcs[fn].lost = 0
	}
	c.victim = c.victim[:0]
}

// Expire never has anything: CIP evicts under pressure only.
func (c *CIP) Expire(policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	return policies.NoSandbox, policies.FormGone, policies.Never
}

// Observe keeps clocks, costs and bounds.
func (c *CIP) Observe(v policies.View, f policies.Fact) {
	switch f.Kind {
	case policies.FactStarted:
		c.endBatch()
		c.clockOf(f.Sandbox)
		c.clock[f.Sandbox] = c.first(f.Seq)
		c.order.rebound(f.Fn, c, v) // |F| grew
	case policies.FactReady:
		c.of(f.Fn).cost.Add(v.Sandbox(f.Sandbox))
		c.order.rebound(f.Fn, c, v) // the cost may have fallen
	case policies.FactUsed:
		c.endBatch()
		c.clock[f.Sandbox] = c.clockOf(f.Sandbox) + c.gain(v.Func(f.Fn), v.Now(), 1)
	case policies.FactArrived, policies.FactFinished, policies.FactIdle,
		policies.FactEvicted, policies.FactGone, policies.FactDropped:
	}
}

// first is the clock of a new sandbox.
func (c *CIP) first(seq uint64) float64 {
	switch {
	case seq == c.topOf && c.top > 0:
		return c.top
	case c.cfg.Inflated:
		return c.last
	}
	return 0
}
