package hybridhistogram

import (
	"errors"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/heap"
	"github.com/open-lambda/open-lambda/policies/keepalive"
)

// Config is what can be set. Shares are between 0 and 1.
type Config struct {
	Bin        time.Duration // width of a bin
	Range      time.Duration // idle times beyond are out of bounds
	Head, Tail float64       // quantiles
	Margin     float64       // head is shortened, tail lengthened by this share
	CV         float64       // least coefficient of variation of a representative histogram
	MinSamples int           // fewer idle times are not representative
	Fixed      time.Duration // keep-alive of a function that is not representative
}

// Default returns the paper's configuration.
func Default() Config {
	return Config{
		Bin: time.Minute, Range: 4 * time.Hour, Head: 0.05, Tail: 0.99, Margin: 0.1,
		CV: 2, MinSamples: 10, Fixed: 4 * time.Hour,
	}
}

// Validate says which field no policy can run with.
func (c Config) Validate() error {
	switch {
	case c.Bin <= 0 || c.Range < c.Bin || c.Range/c.Bin > 100_000:
		return errors.New("make hybrid-histogram: need 0 < bin <= range, at most 100000 bins")
	case c.Head < 0 || c.Tail > 1 || c.Head > c.Tail:
		return errors.New("make hybrid-histogram: need 0 <= head <= tail <= 1")
	case c.Margin < 0 || c.Margin >= 1:
		return errors.New("make hybrid-histogram: the margin must be at least 0 and below 1")
	case c.CV < 0 || c.MinSamples < 1 || c.Fixed <= 0:
		return errors.New("make hybrid-histogram: cv must not be negative, samples at least 1, fixed longer than 0")
	}
	return nil
}

// Policy is evictor and prewarmer in one.
type Policy struct {
	cfg   Config
	set   keepalive.Set
	funcs []function // by FuncID
	alarm heap.Heap  // functions by the moment of their prewarming
	wants []policies.Want
}

type function struct {
	history
	endedAt policies.Time // end of its last request; Never while it has one
	until   policies.Time // what was prewarmed is kept until then
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

// Insert adds an idle sandbox: a used one goes now or at the tail, one that
// was prewarmed waits for the request that it was made for.
func (p *Policy) Insert(v policies.View, id policies.SandboxID) {
	b := v.Sandbox(id)
	f := p.of(b.Fn)
	if b.Uses == 0 && b.Cause == policies.ForPrewarm {
		p.set.Insert(b, max(f.until, v.Now()))
		return
	}
	w := f.windows(&p.cfg)
	due := b.LastUse.Add(w.keep)
	if w.prewarm > 0 && v.Func(b.Fn).InFlight == 0 {
		due = v.Now()
	}
	p.set.Insert(b, due)
}

// Remove takes one out.
func (p *Policy) Remove(_ policies.View, id policies.SandboxID) { p.set.Remove(id) }

// Next names the least recently used one.
func (p *Policy) Next(policies.View, policies.Start) (policies.SandboxID, bool) {
	return p.set.Oldest()
}

// Expire names one whose time has ended.
func (p *Policy) Expire(v policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	id, next := p.set.Due(v, nil)
	return id, policies.FormGone, next
}

// Observe counts idle times and sets or clears the moment of prewarming.
func (p *Policy) Observe(v policies.View, x policies.Fact) {
	switch x.Kind {
	case policies.FactArrived:
		f := p.of(x.Fn)
		p.alarm.Remove(int32(x.Fn))
		if f.endedAt != policies.Never {
			f.add(&p.cfg, v.Now().Sub(f.endedAt))
			f.endedAt = policies.Never
		}
	case policies.FactFinished:
		if v.Func(x.Fn).InFlight == 0 {
			p.ended(x.Fn, v.Now())
		}
	case policies.FactStarted, policies.FactReady, policies.FactUsed, policies.FactIdle,
		policies.FactEvicted, policies.FactGone, policies.FactDropped:
	}
}

// ended plans what follows the end of a function's last request.
func (p *Policy) ended(id policies.FuncID, now policies.Time) {
	f := p.of(id)
	f.endedAt = now
	w := f.windows(&p.cfg)
	f.until = now.Add(w.keep)
	if w.prewarm > 0 {
		p.alarm.Set(int32(id), heap.Key{B: int64(now.Add(w.prewarm))})
	}
}

// Wake returns the moment of the next prewarming.
func (p *Policy) Wake() policies.Time {
	if _, k, ok := p.alarm.Min(); ok {
		return policies.Time(k.B)
	}
	return policies.Never
}

// Plan wants one sandbox of each function whose moment has come. How long it
// is kept is for Insert to say: KeepUntil would also hold it after its use.
func (p *Policy) Plan(v policies.View) ([]policies.Want, policies.Time) {
	p.wants = p.wants[:0]
	for {
		id, k, ok := p.alarm.Min()
		if !ok || policies.Time(k.B) > v.Now() {
			return p.wants, policies.Never
		}
		p.alarm.Remove(id)
		p.wants = append(p.wants, policies.Want{Fn: policies.FuncID(id), N: 1})
	}
}
