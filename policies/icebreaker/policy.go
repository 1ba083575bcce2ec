package icebreaker

import (
	"errors"
	"math"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/keepalive"
)

// Config is what can be set.
type Config struct {
	History   int     // minutes of history, 4 to 1440
	Harmonics int     // kept of the residual
	Threshold float64 // least utility, 0 to 1
}

// Default returns the paper's 10 harmonics over 2 hours, and a threshold that
// nearly every function reaches whose prewarmed sandboxes are used.
func Default() Config { return Config{History: 120, Harmonics: 10, Threshold: 0.3} }

// Validate says which field no policy can run with.
func (c Config) Validate() error {
	switch {
	case c.History < minHistory || c.History > 1440:
		return errors.New("make icebreaker: the history must be 4 to 1440 minutes")
	case c.Harmonics < 0:
		return errors.New("make icebreaker: harmonics must not be negative")
	case c.Threshold < 0 || c.Threshold > 1:
		return errors.New("make icebreaker: the threshold must be between 0 and 1")
	}
	return nil
}

// Policy is evictor and prewarmer in one.
type Policy struct {
	cfg    Config
	set    keepalive.Set
	funcs  []function // by FuncID
	second int64      // last one that was planned
	maxMB  int64
	fc     forecaster
	wants  []policies.Want
}

// function is what is known of a function.
type function struct {
	peaks []float64 // by minute, oldest first
	total float64   // sum of peaks
	peak  int       // of the current minute
	want  int       // sandboxes wanted in the current minute

	execSum, coldSum time.Duration
	execN, coldN     int64
	warmed, wasted   int64 // prewarmed sandboxes, and those of them evicted unused
}

// New returns a policy that has seen nothing.
func New(cfg Config) (*Policy, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Policy{cfg: cfg, fc: forecaster{harmonics: cfg.Harmonics}}, nil
}

func (p *Policy) of(id policies.FuncID) *function {
	for int(id) >= len(p.funcs) {
		p.funcs = append(p.funcs, function{})
	}
	return &p.funcs[id]
}

const minute = 60

// boundary returns the end of the function's current minute.
func boundary(id policies.FuncID, now policies.Time) policies.Time {
	s := int64(now) / int64(time.Second)
	return policies.Time((s + minute - (s-int64(id)%minute+minute)%minute) * int64(time.Second))
}

// Insert adds an idle sandbox, to be judged at the end of the minute.
func (p *Policy) Insert(v policies.View, id policies.SandboxID) {
	b := v.Sandbox(id)
	p.set.Insert(b, boundary(b.Fn, v.Now()))
}

// Remove takes one out.
func (p *Policy) Remove(_ policies.View, id policies.SandboxID) { p.set.Remove(id) }

// Next names the least recently used one.
func (p *Policy) Next(policies.View, policies.Start) (policies.SandboxID, bool) {
	return p.set.Oldest()
}

// Expire names one that its function has beyond the forecast.
func (p *Policy) Expire(v policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	id, next := p.set.Due(v, func(b *policies.Sandbox) policies.Time {
		if v.Func(b.Fn).Live <= p.of(b.Fn).want {
			return boundary(b.Fn, v.Now())
		}
		return policies.Never
	})
	return id, policies.FormGone, next
}

// Observe collects concurrency, times and the fate of prewarmed sandboxes.
func (p *Policy) Observe(v policies.View, x policies.Fact) {
	f := p.of(x.Fn)
	switch x.Kind {
	case policies.FactArrived:
		f.peak = max(f.peak, v.Func(x.Fn).InFlight)
		p.maxMB = max(p.maxMB, v.Func(x.Fn).Spec.MB)
	case policies.FactFinished:
		f.execSum += x.Dur
		f.execN++
	case policies.FactReady:
		b := v.Sandbox(x.Sandbox)
		f.coldSum += b.ReadyAt.Sub(b.StartedAt)
		f.coldN++
		if b.Cause == policies.ForPrewarm {
			f.warmed++
		}
	case policies.FactEvicted:
		if b := v.Sandbox(x.Sandbox); b.Cause == policies.ForPrewarm && b.Uses == 0 {
			f.wasted++
		}
	case policies.FactStarted, policies.FactUsed, policies.FactIdle, policies.FactGone, policies.FactDropped:
	}
}

// Plan ends the minutes that are over and wants what the next ones need.
func (p *Policy) Plan(v policies.View) ([]policies.Want, policies.Time) {
	p.wants = p.wants[:0]
	now := int64(v.Now()) / int64(time.Second)
	if p.second == 0 {
		p.second = now - 1
	}
	for s := max(p.second, now-minute) + 1; s <= now; s++ {
		for id := s % minute; id < int64(v.Node().Funcs); id += minute {
			p.endMinute(v, policies.FuncID(id))
		}
	}
	p.second = now
	return p.wants, policies.Time((now + 1) * int64(time.Second))
}

func (p *Policy) endMinute(v policies.View, id policies.FuncID) {
	f, view := p.of(id), v.Func(id)
	f.push(float64(f.peak), p.cfg.History)
	f.peak = view.InFlight
	f.want = 0
	if f.total == 0 || f.utility(view, p.maxMB) < p.cfg.Threshold {
		return
	}
	f.want = int(math.Round(p.fc.predict(f.peaks)))
	if f.want > view.Live {
		p.wants = append(p.wants, policies.Want{Fn: id, N: f.want})
	}
}

// push adds a minute to the history.
func (f *function) push(peak float64, limit int) {
	if f.total == 0 {
		f.peaks = f.peaks[:0]
		if peak == 0 {
			return // the history begins with the first request
		}
	}
	if len(f.peaks) == limit {
		f.total -= f.peaks[0]
		copy(f.peaks, f.peaks[1:])
		f.peaks = f.peaks[:limit-1]
	}
	f.peaks = append(f.peaks, peak)
	f.total += peak
}

// utility is U of the package documentation.
func (f *function) utility(view *policies.Func, maxMB int64) float64 {
	cold, exec := view.ColdNow, time.Duration(0)
	if f.coldN > 0 {
		cold = f.coldSum / time.Duration(f.coldN)
	}
	if f.execN > 0 {
		exec = f.execSum / time.Duration(f.execN)
	}
	saved := 0.0
	if cold > 0 {
		saved = float64(cold) / float64(cold+exec)
	}
	correct := 1.0
	if f.warmed > 0 {
		correct = 1 - float64(f.wasted)/float64(f.warmed)
	}
	small := 1 - float64(view.Spec.MB)/float64(max(1, maxMB, view.Spec.MB))
	return (saved + correct + small) / 3
}
