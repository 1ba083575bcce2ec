package knative

import (
	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/keepalive"
)

// Policy is evictor and prewarmer in one.
type Policy struct {
	cfg   Config
	set   keepalive.Set
	funcs []scaler // by FuncID
	next  policies.Time
	wants []policies.Want
}

// New returns a policy that has seen nothing.
func New(cfg Config) (*Policy, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Policy{cfg: cfg}, nil
}

func (p *Policy) of(id policies.FuncID) *scaler {
	for int(id) >= len(p.funcs) {
		p.funcs = append(p.funcs, scaler{})
	}
	return &p.funcs[id]
}

// Insert adds an idle sandbox, to be judged at the next decision.
func (p *Policy) Insert(v policies.View, id policies.SandboxID) {
	p.set.Insert(v.Sandbox(id), max(p.next, v.Now()+1))
}

// Remove takes one out.
func (p *Policy) Remove(_ policies.View, id policies.SandboxID) { p.set.Remove(id) }

// Next names the least recently used one.
func (p *Policy) Next(policies.View, policies.Start) (policies.SandboxID, bool) {
	return p.set.Oldest()
}

// Expire names one that its function has beyond what is desired.
func (p *Policy) Expire(v policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	id, next := p.set.Due(v, func(b *policies.Sandbox) policies.Time {
		if v.Func(b.Fn).Live <= p.of(b.Fn).desired {
			return max(p.next, v.Now()+1)
		}
		return policies.Never
	})
	return id, policies.FormGone, next
}

// Observe integrates the concurrency.
func (p *Policy) Observe(v policies.View, x policies.Fact) {
	switch x.Kind {
	case policies.FactArrived, policies.FactFinished, policies.FactDropped:
		p.of(x.Fn).change(v.Now(), v.Func(x.Fn).InFlight)
	case policies.FactStarted, policies.FactReady, policies.FactUsed, policies.FactIdle,
		policies.FactEvicted, policies.FactGone:
	}
}

// Plan decides for every function that is awake and wants what is missing.
func (p *Policy) Plan(v policies.View) ([]policies.Want, policies.Time) {
	p.wants = p.wants[:0]
	now := v.Now()
	for id := range p.funcs {
		s := &p.funcs[id]
		if s.asleep() {
			s.since, s.ticks = now, 0
			continue
		}
		f := v.Func(policies.FuncID(id))
		s.tick(&p.cfg, now, f.IdleCount+f.BusyCount)
		if s.desired > f.Live {
			p.wants = append(p.wants, policies.Want{Fn: f.ID, N: s.desired, MayEvict: p.cfg.MayEvict})
		}
	}
	p.next = now.Add(p.cfg.Tick)
	return p.wants, p.next
}

// Queue is the scaler of the preset knative-queue. It has no state.
type Queue struct{}

// Blocked lets the request wait; a function with no sandbox at all gets one.
func (Queue) Blocked(v policies.View, r policies.Request) (policies.Verdict, policies.Outcome) {
	return poke(v.Func(r.Fn)), nil
}

// Recheck sees to it that those who wait have somebody to wait for.
func (Queue) Recheck(v policies.View, fn policies.FuncID) policies.Verdict {
	return poke(v.Func(fn))
}

func poke(f *policies.Func) policies.Verdict {
	if f.Waiting > 0 && f.Live == 0 && f.Queued == 0 {
		return policies.Verdict{Start: 1}
	}
	return policies.Verdict{}
}
