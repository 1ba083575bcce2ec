package faascache

import (
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/heap"
	"github.com/open-lambda/open-lambda/policies/stats"
)

// Config is what can be set.
type Config struct {
	PerSandbox bool          // Eq. 2: divide by the function's live sandboxes
	ColdPerMB  time.Duration // cost without samples and without an estimate, per MB of memory
}

// FaasCache is the evictor.
type FaasCache struct {
	cfg   Config
	clock float64
	funcs []function  // by FuncID
	uses  []int64     // by SandboxID: counted in its function's Freq
	idle  heap.Forest // tree FuncID: its idle sandboxes
	order heap.Heap   // functions with idle sandboxes by priority
}

type function struct {
	freq     int64
	priority float64
	clock    float64 // the clock at its last use
	cost     stats.ColdCost
}

// New returns an evictor that has seen nothing.
func New(cfg Config) *FaasCache {
	if cfg.ColdPerMB <= 0 {
		cfg.ColdPerMB = stats.DefaultColdPerMB
	}
	return &FaasCache{cfg: cfg}
}

func (c *FaasCache) of(id policies.FuncID) *function {
	for int(id) >= len(c.funcs) {
		c.funcs = append(c.funcs, function{})
	}
	return &c.funcs[id]
}

// refresh computes the function's priority from the clock of its last use.
func (c *FaasCache) refresh(f *policies.Func) {
	s := c.of(f.ID)
	size := float64(max(1, f.Spec.MB))
	if c.cfg.PerSandbox {
		size *= float64(max(1, f.Live))
	}
	s.priority = s.clock + float64(s.freq)*s.cost.Millis(f, c.cfg.ColdPerMB)/size
	c.rekey(f.ID)
}

// rekey puts the function where its priority and its oldest idle sandbox say.
func (c *FaasCache) rekey(id policies.FuncID) {
	_, k, ok := c.idle.Min(int32(id))
	if !ok {
		c.order.Remove(int32(id))
		return
	}
	c.order.Set(int32(id), heap.Key{A: c.of(id).priority, B: k.B, C: k.C})
}

// Insert adds an idle sandbox.
func (c *FaasCache) Insert(v policies.View, id policies.SandboxID) {
	b := v.Sandbox(id)
	c.idle.Set(int32(b.Fn), int32(id), heap.Key{B: int64(b.LastUse), C: b.Born})
	c.rekey(b.Fn)
}

// Remove takes one out.
func (c *FaasCache) Remove(v policies.View, id policies.SandboxID) {
	fn := v.Sandbox(id).Fn
	c.idle.Remove(int32(fn), int32(id))
	c.rekey(fn)
}

// Next names the victim and moves the clock to its priority.
func (c *FaasCache) Next(policies.View, policies.Start) (policies.SandboxID, bool) {
	fn, k, ok := c.order.Min()
	if !ok {
		return policies.NoSandbox, false
	}
	c.clock = max(c.clock, k.A)
	id, _, _ := c.idle.Min(fn)
	return policies.SandboxID(id), true
}

// Expire never has anything: FaasCache evicts under pressure only.
func (c *FaasCache) Expire(policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	return policies.NoSandbox, policies.FormGone, policies.Never
}

// Observe counts uses and costs.
func (c *FaasCache) Observe(v policies.View, f policies.Fact) {
	switch f.Kind {
	case policies.FactStarted:
		for int(f.Sandbox) >= len(c.uses) {
			c.uses = append(c.uses, 0)
		}
		c.uses[f.Sandbox] = 0
		c.changed(v, f.Fn)
	case policies.FactReady:
		c.of(f.Fn).cost.Add(v.Sandbox(f.Sandbox))
	case policies.FactUsed:
		s := c.of(f.Fn)
		s.freq++
		s.clock = c.clock
		c.uses[f.Sandbox]++
		c.refresh(v.Func(f.Fn))
	case policies.FactGone:
		c.of(f.Fn).freq -= c.uses[f.Sandbox]
		c.uses[f.Sandbox] = 0
		c.changed(v, f.Fn)
	case policies.FactArrived, policies.FactFinished, policies.FactIdle,
		policies.FactEvicted, policies.FactDropped:
	}
}

// changed renews the priority after a change of K, if K is in the formula.
func (c *FaasCache) changed(v policies.View, fn policies.FuncID) {
	if c.cfg.PerSandbox {
		c.refresh(v.Func(fn))
	}
}
