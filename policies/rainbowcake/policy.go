package rainbowcake

import (
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/heap"
	"github.com/open-lambda/open-lambda/policies/keepalive"
)

// Policy is evictor, reuser and prewarmer in one.
type Policy struct {
	cfg     Config
	set     keepalive.Set
	funcs   []arrivals // by FuncID
	langs   []arrivals // by LayerID
	all     arrivals
	demoted keepalive.Demotions
	treeOf  []int32     // by SandboxID: its tree in layers
	layers  heap.Forest // tree LayerID: idle language layers; tree 0: bare ones
	alarm   heap.Heap   // functions by the moment of their prewarming
	wants   []policies.Want
}

// New returns a policy that has seen nothing.
func New(cfg Config) (*Policy, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Policy{cfg: cfg}, nil
}

// Insert adds an idle sandbox or layer.
func (r *Policy) Insert(v policies.View, id policies.SandboxID) {
	b := v.Sandbox(id)
	r.demoted.Inserted(b)
	mean, known := r.interval(v, b)
	saves := time.Duration(r.cfg.share(b.Form) * float64(v.Func(b.Fn).ColdNow))
	r.set.Insert(b, v.Now().Add(r.cfg.ttl(mean, known, saves, b.MB)))
	if tree, ok := r.tree(v, b); ok {
		for int(id) >= len(r.treeOf) {
			r.treeOf = append(r.treeOf, 0)
		}
		r.treeOf[id] = tree // a new revision may change the function's layer
		r.layers.Set(tree, int32(id), heap.Key{B: -int64(v.Now()), C: b.Born})
	}
}

// tree is where starts look for a layer.
func (r *Policy) tree(v policies.View, b *policies.Sandbox) (int32, bool) {
	switch b.Form {
	case Bare:
		return 0, true
	case Language:
		return int32(v.Func(b.Fn).Spec.Layer), true
	case policies.FormFull, policies.FormShrunk, policies.FormGone:
	}
	return 0, false
}

// interval is the mean time between the arrivals that could use a layer.
func (r *Policy) interval(v policies.View, b *policies.Sandbox) (time.Duration, bool) {
	switch b.Form {
	case Bare:
		return r.all.mean()
	case Language:
		return at(&r.langs, int(v.Func(b.Fn).Spec.Layer)).mean()
	case policies.FormFull, policies.FormShrunk, policies.FormGone:
	}
	return at(&r.funcs, int(b.Fn)).mean()
}

func at(s *[]arrivals, i int) *arrivals {
	for i >= len(*s) {
		*s = append(*s, arrivals{})
	}
	return &(*s)[i]
}

// Remove takes one out.
func (r *Policy) Remove(_ policies.View, id policies.SandboxID) {
	r.set.Remove(id)
	if r.layers.Has(int32(id)) {
		r.layers.Remove(r.treeOf[id], int32(id))
	}
}

// Next names the least recently used one, whatever its layer.
func (r *Policy) Next(policies.View, policies.Start) (policies.SandboxID, bool) {
	return r.set.Oldest()
}

// Expire demotes by one layer, and destroys a bare one.
func (r *Policy) Expire(v policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	id, next := r.set.Due(v, nil)
	if id == policies.NoSandbox {
		return id, policies.FormGone, next
	}
	b := v.Sandbox(id)
	form := policies.FormGone
	switch {
	case r.demoted.Refused(id): // from full to nothing
	case b.Form == policies.FormFull && v.Func(b.Fn).Spec.Layer != 0:
		form = Language
	case b.Form == policies.FormFull || b.Form == Language:
		form = Bare
	}
	if form != policies.FormGone {
		r.demoted.Ask(id)
	}
	return id, form, policies.Never
}

// Reuse names the layer that is nearest to what the function needs, the one
// that was demoted last.
func (r *Policy) Reuse(v policies.View, fn policies.FuncID) policies.SandboxID {
	if l := v.Func(fn).Spec.Layer; l != 0 {
		if id, _, ok := r.layers.Min(int32(l)); ok {
			return policies.SandboxID(id)
		}
	}
	if id, _, ok := r.layers.Min(0); ok {
		return policies.SandboxID(id)
	}
	return policies.NoSandbox
}

// Observe counts arrivals and sets the moment of prewarming.
func (r *Policy) Observe(v policies.View, x policies.Fact) {
	switch x.Kind {
	case policies.FactArrived:
		r.arrived(v, x.Fn)
	case policies.FactStarted:
		r.demoted.Forget(x.Sandbox) // the id may have been another sandbox's
	case policies.FactReady, policies.FactUsed, policies.FactFinished, policies.FactIdle,
		policies.FactEvicted, policies.FactGone, policies.FactDropped:
	}
}

func (r *Policy) arrived(v policies.View, fn policies.FuncID) {
	now := v.Now()
	r.all.add(now)
	if l := v.Func(fn).Spec.Layer; l != 0 {
		at(&r.langs, int(l)).add(now)
	}
	a := at(&r.funcs, int(fn))
	a.add(now)
	if mean, ok := a.mean(); ok {
		r.alarm.Set(int32(fn), heap.Key{B: int64(now.Add(r.cfg.quantile(mean)))})
	}
}

// Wake returns the moment of the next prewarming.
func (r *Policy) Wake() policies.Time {
	if _, k, ok := r.alarm.Min(); ok {
		return policies.Time(k.B)
	}
	return policies.Never
}

// Plan wants one more sandbox of each function whose moment has come and that
// has nobody idle or on its way.
func (r *Policy) Plan(v policies.View) ([]policies.Want, policies.Time) {
	r.wants = r.wants[:0]
	for {
		id, k, ok := r.alarm.Min()
		if !ok || policies.Time(k.B) > v.Now() {
			return r.wants, policies.Never
		}
		r.alarm.Remove(id)
		f := v.Func(policies.FuncID(id))
		if f.Available == 0 && f.Provisioning == 0 && f.Queued == 0 {
			r.wants = append(r.wants, policies.Want{Fn: f.ID, N: f.Live + 1})
		}
	}
}
