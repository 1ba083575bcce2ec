package codecrunch

import (
	"errors"
	"math"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/heap"
	"github.com/open-lambda/open-lambda/policies/keepalive"
	"github.com/open-lambda/open-lambda/policies/stats"
)

// Config is what can be set.
type Config struct {
	Ratio        float64       // memory of a compressed sandbox against a full one, above 0, at most 1
	RestorePerMB time.Duration // time to decompress, per MB of the full sandbox
	Budget       float64       // share of the pool's memory and time for keep-alive
	ColdPerMB    time.Duration // cost of a cold start without samples and without an estimate, per MB
}

// Default returns a compression of 2.5 to 1 that is undone at 2.5 GB/s.
func Default() Config {
	return Config{
		Ratio: 0.4, RestorePerMB: 400 * time.Microsecond, Budget: 1,
		ColdPerMB: stats.DefaultColdPerMB,
	}
}

// Validate says which field no policy can run with.
func (c Config) Validate() error {
	switch {
	case c.Ratio <= 0 || c.Ratio > 1:
		return errors.New("make codecrunch: the ratio must be above 0 and at most 1")
	case c.RestorePerMB < 0 || c.ColdPerMB <= 0:
		return errors.New("make codecrunch: the restore time must not be negative, the cold start longer than 0")
	case c.Budget <= 0:
		return errors.New("make codecrunch: the budget must be above 0")
	}
	return nil
}

const (
	interval    = time.Minute      // between two choices
	defaultKeep = 10 * time.Minute // of a function with too few gaps
	minGaps     = 3
)

// Policy is evictor, reuser and prewarmer (which prewarms nothing, but has the
// clock) in one.
type Policy struct {
	cfg     Config
	set     keepalive.Set
	funcs   []function // by FuncID
	chosen  []choice   // by FuncID
	demoted keepalive.Demotions
	shrunk  heap.Forest // tree FuncID: its compressed sandboxes, latest first
	options []option
}

type function struct {
	gaps
	lastAt  policies.Time
	coldSum time.Duration
	coldN   int64
}

// New returns a policy that has seen nothing.
func New(cfg Config) (*Policy, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Policy{cfg: cfg}, nil
}

func (p *Policy) of(id policies.FuncID) *function {
	for int(id) >= len(p.funcs) {
		p.funcs = append(p.funcs, function{})
		p.chosen = append(p.chosen, choice{keep: defaultKeep})
	}
	return &p.funcs[id]
}

// HeldMB is the memory that a sandbox of mb MB holds in a form, at least 1.
func (p *Policy) HeldMB(mb int64, form policies.Form) int64 {
	if form != policies.FormShrunk {
		return mb
	}
	return max(1, int64(math.Round(p.cfg.Ratio*float64(mb))))
}

// ColdFrom is what a start from a compressed sandbox takes, at most cold.
func (p *Policy) ColdFrom(mb int64, cold time.Duration, form policies.Form) time.Duration {
	if form != policies.FormShrunk {
		return cold
	}
	return min(cold, time.Duration(mb)*p.cfg.RestorePerMB)
}

// Insert adds an idle sandbox: a full one is compressed at once if that was
// chosen, else its keep-alive begins; a compressed one goes on with it.
func (p *Policy) Insert(v policies.View, id policies.SandboxID) {
	b := v.Sandbox(id)
	p.of(b.Fn)
	c := p.chosen[b.Fn]
	p.demoted.Inserted(b)
	switch {
	case b.Form == policies.FormShrunk:
		p.shrunk.Set(int32(b.Fn), int32(id), heap.Key{B: -int64(b.LastUse), C: b.Born})
		p.set.Insert(b, max(v.Now(), b.LastUse.Add(c.keep)))
	case c.shrunk && c.keep > 0 && !p.demoted.Refused(id):
		p.set.Insert(b, v.Now())
	default:
		p.set.Insert(b, b.LastUse.Add(c.keep))
	}
}

// Remove takes one out.
func (p *Policy) Remove(v policies.View, id policies.SandboxID) {
	p.set.Remove(id)
	if p.shrunk.Has(int32(id)) {
		p.shrunk.Remove(int32(v.Sandbox(id).Fn), int32(id))
	}
}

// Next names the least recently used one.
func (p *Policy) Next(policies.View, policies.Start) (policies.SandboxID, bool) {
	return p.set.Oldest()
}

// Expire compresses a full sandbox of a function that chose so, and destroys
// one whose keep-alive has ended.
func (p *Policy) Expire(v policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	id, next := p.set.Due(v, nil)
	if id == policies.NoSandbox {
		return id, policies.FormGone, next
	}
	b := v.Sandbox(id)
	c := p.chosen[b.Fn]
	if !p.demoted.Refused(id) && b.Form == policies.FormFull && c.shrunk && v.Now() < b.LastUse.Add(c.keep) {
		p.demoted.Ask(id)
		return id, policies.FormShrunk, policies.Never
	}
	return id, policies.FormGone, policies.Never
}

// Reuse names the function's compressed sandbox that was used last.
func (p *Policy) Reuse(_ policies.View, fn policies.FuncID) policies.SandboxID {
	id, _, ok := p.shrunk.Min(int32(fn))
	if !ok {
		return policies.NoSandbox
	}
	return policies.SandboxID(id)
}

// Observe counts gaps and cold starts from nothing.
func (p *Policy) Observe(v policies.View, x policies.Fact) {
	f := p.of(x.Fn)
	switch x.Kind {
	case policies.FactArrived:
		if f.lastAt != policies.Never {
			f.add(v.Now().Sub(f.lastAt))
		}
		f.lastAt = v.Now()
	case policies.FactStarted:
		p.demoted.Forget(x.Sandbox) // the id may have been another sandbox's
	case policies.FactReady:
		b := v.Sandbox(x.Sandbox)
		if d := b.ReadyAt.Sub(b.StartedAt); d > p.restore(v.Func(x.Fn)) {
			f.coldSum += d
			f.coldN++
		}
	case policies.FactUsed, policies.FactFinished, policies.FactIdle,
		policies.FactEvicted, policies.FactGone, policies.FactDropped:
	}
}

func (p *Policy) restore(f *policies.Func) time.Duration {
	return time.Duration(f.Spec.MB) * p.cfg.RestorePerMB
}

func (p *Policy) cold(view *policies.Func, f *function) time.Duration {
	switch {
	case f.coldN > 0:
		return f.coldSum / time.Duration(f.coldN)
	case view.ColdNow > 0:
		return view.ColdNow
	}
	return time.Duration(view.Spec.MB) * p.cfg.ColdPerMB
}

// Plan chooses anew once a minute. It wants no starts.
func (p *Policy) Plan(v policies.View) ([]policies.Want, policies.Time) {
	p.options = p.options[:0]
	for id := range p.funcs {
		f, view := &p.funcs[id], v.Func(policies.FuncID(id))
		if f.seen < minGaps {
			continue
		}
		p.chosen[id] = choice{}
		p.offer(int32(id), view, f, v.Now())
	}
	pool := float64(v.Node().PoolMB) * interval.Seconds()
	choose(p.options, p.cfg.Budget*pool, p.chosen)
	return nil, v.Now().Add(interval)
}

// offer appends the options of a function.
func (p *Policy) offer(id int32, view *policies.Func, f *function, now policies.Time) {
	cold := p.cold(view, f)
	perMinute := float64(f.seen) / max(1, now.Sub(view.FirstArrival).Minutes())
	for i, keep := range keeps() {
		prob, held := f.within(i)
		for _, shrunk := range [2]bool{false, true} {
			saved, mb := cold, float64(view.Spec.MB)
			if shrunk {
				saved, mb = cold-min(cold, p.restore(view)), float64(p.HeldMB(view.Spec.MB, policies.FormShrunk))
			}
			o := option{
				fn: id, keep: keep, shrunk: shrunk,
				value: perMinute * prob * float64(saved) / float64(time.Millisecond),
				cost:  perMinute * mb * held,
			}
			if o.value > 0 && o.cost > 0 {
				p.options = append(p.options, o)
			}
		}
	}
}
