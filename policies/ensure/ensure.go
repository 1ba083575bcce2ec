package ensure

import (
	"errors"
	"math"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/keepalive"
	"github.com/open-lambda/open-lambda/policies/stats"
)

// Config is what can be set.
type Config struct {
	Tick  time.Duration // between two plans
	Decay time.Duration // time after which an arrival counts 1/e
	Idle  time.Duration // surplus sandboxes go after this idle time
}

// Default returns our choice: plans as often as Knative, a rate over its window.
func Default() Config {
	return Config{Tick: 2 * time.Second, Decay: time.Minute, Idle: time.Minute}
}

// Validate says which field no policy can run with.
func (c Config) Validate() error {
	if c.Tick <= 0 || c.Decay <= 0 || c.Idle <= 0 {
		return errors.New("make ensure: tick, decay and idle must be longer than 0")
	}
	return nil
}

const (
	newest  = 1.0 / 16 // weight of the newest execution time
	minLoad = 0.01     // below it a function is not kept warm
)

// Policy is evictor and prewarmer in one.
type Policy struct {
	cfg   Config
	set   keepalive.Set
	funcs []function // by FuncID
	wants []policies.Want
}

type function struct {
	arrivals stats.Decay
	exec     float64 // s, 0 unknown
	want     int
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
	}
	return &p.funcs[id]
}

// Target returns the number of sandboxes for an offered load in Erlang.
func Target(load float64) int {
	if load < minLoad {
		return 0
	}
	return int(math.Ceil(load + math.Sqrt(load)))
}

// Insert adds an idle sandbox.
func (p *Policy) Insert(v policies.View, id policies.SandboxID) {
	b := v.Sandbox(id)
	p.set.Insert(b, b.LastUse.Add(p.cfg.Idle))
}

// Remove takes one out.
func (p *Policy) Remove(_ policies.View, id policies.SandboxID) { p.set.Remove(id) }

// Next names the least recently used one.
func (p *Policy) Next(policies.View, policies.Start) (policies.SandboxID, bool) {
	return p.set.Oldest()
}

// Expire names one that was idle for long and that its function has beyond
// its target.
func (p *Policy) Expire(v policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	id, next := p.set.Due(v, func(b *policies.Sandbox) policies.Time {
		if v.Func(b.Fn).Live <= p.of(b.Fn).want {
			return v.Now().Add(p.cfg.Tick)
		}
		return policies.Never
	})
	return id, policies.FormGone, next
}

// Observe follows the load.
func (p *Policy) Observe(v policies.View, x policies.Fact) {
	switch x.Kind {
	case policies.FactArrived:
		p.of(x.Fn).arrivals.Add(v.Now(), p.cfg.Decay)
	case policies.FactFinished:
		f := p.of(x.Fn)
		if f.exec == 0 {
			f.exec = x.Dur.Seconds()
			return
		}
		f.exec += newest * (x.Dur.Seconds() - f.exec)
	case policies.FactStarted, policies.FactReady, policies.FactUsed, policies.FactIdle,
		policies.FactEvicted, policies.FactGone, policies.FactDropped:
	}
}

// Plan sets the targets and wants what is missing.
func (p *Policy) Plan(v policies.View) ([]policies.Want, policies.Time) {
	p.wants = p.wants[:0]
	for id := range p.funcs {
		f := &p.funcs[id]
		rate := f.arrivals.Value(v.Now(), p.cfg.Decay) / p.cfg.Decay.Seconds()
		f.want = Target(rate * f.exec)
		if f.want > v.Func(policies.FuncID(id)).Live {
			p.wants = append(p.wants, policies.Want{Fn: policies.FuncID(id), N: f.want})
		}
	}
	return p.wants, v.Now().Add(p.cfg.Tick)
}
