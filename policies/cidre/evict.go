package cidre

import (
	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/heap"
)

// order finds the idle sandbox with the lowest Clock + gain(function) without
// looking at all of them, and finds exactly the one that a scan would find.
//
// Why that is exact. All idle sandboxes of a function share the gain, so the
// cheapest of a function is the one with the lowest (clock, last use, age),
// which is at the root of the function's heap and does not change with time.
// Among the functions, a gain changes by itself only downwards, as time goes
// on. So a gain taken at a horizon in the future is a lower bound until then,
// as long as nothing else lowers it: a growing |F| and a falling cost re-key
// the function; a new arrival and a shrinking |F| raise the gain. A heap of
// the bounds is searched by branch and bound: a subtree whose bound exceeds
// the best exact value found cannot hold a better one. A bound whose horizon
// has passed is renewed before the search.
type order struct {
	idle    heap.Forest // tree FuncID: its idle sandboxes
	lower   heap.Heap   // functions with idle sandboxes by bound
	horizon heap.Heap   // the same functions by the moment when the bound ends
	gainAt  []float64   // by FuncID: the gain that the bound was made from
}

func (o *order) insert(b *policies.Sandbox, k heap.Key) {
	o.idle.Set(int32(b.Fn), int32(b.ID), k)
}

func (o *order) remove(b *policies.Sandbox) {
	fn := int32(b.Fn)
	o.idle.Remove(fn, int32(b.ID))
	_, k, ok := o.idle.Min(fn)
	if !ok {
		o.lower.Remove(fn)
		o.horizon.Remove(fn)
		return
	}
	o.lower.Set(fn, heap.Key{A: k.A + o.gainAt[fn]})
}

// bound sets a function's lower bound and how long it holds.
func (o *order) bound(id policies.FuncID, gain float64, until policies.Time) {
	fn := int32(id)
	for int(fn) >= len(o.gainAt) {
		o.gainAt = append(o.gainAt, 0)
	}
	_, k, ok := o.idle.Min(fn)
	if !ok {
		return
	}
	o.gainAt[fn] = gain
	o.lower.Set(fn, heap.Key{A: k.A + gain})
	o.horizon.Set(fn, heap.Key{B: int64(until)})
}

// rebound renews the bound of a function if it has one.
func (o *order) rebound(id policies.FuncID, c *CIP, v policies.View) {
	if o.lower.Has(int32(id)) {
		c.rekey(v, id)
	}
}

// stale returns a function whose bound has ended.
func (o *order) stale(now policies.Time) (policies.FuncID, bool) {
	fn, k, ok := o.horizon.Min()
	if !ok || policies.Time(k.B) >= now {
		return policies.NoFunc, false
	}
	return policies.FuncID(fn), true
}

// min returns the sandbox with the lowest priority now, and the priority.
// Ties go to the older last use, then to the older sandbox.
func (o *order) min(gain func(policies.FuncID) float64) (policies.SandboxID, float64, bool) {
	_, root, ok := o.lower.Min()
	if !ok {
		return policies.NoSandbox, 0, false
	}
	best, bestID, found := heap.Key{A: root.A}, int32(policies.NoSandbox), false
	visit := func(fn int32) float64 {
		id, k, _ := o.idle.Min(fn)
		k.A += gain(policies.FuncID(fn))
		if !found || k.Less(best) {
			best, bestID, found = k, id, true
		}
		return best.A
	}
	o.lower.Descend(root.A, visit)
	return policies.SandboxID(bestID), best.A, true
}
