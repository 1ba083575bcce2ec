package cidre

import (
	"errors"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/stats"
)

// Delay says how T_d is read while the request at the head still waits.
type Delay uint8

// Readings of T_d.
const (
	// HeadAge: the longer of the last completed delayed wait and the age of
	// the queue's head. Otherwise one very long wait would never be noticed.
	HeadAge Delay = iota
	// Completed: the last completed delayed wait only, the literal reading.
	Completed
)

// CSSConfig is what can be set about CSS.
type CSSConfig struct {
	Window    time.Duration // sliding window of all observations
	Delay     Delay
	Timer     bool          // re-evaluate when the head has waited T_p
	ColdPerMB time.Duration // T_p without samples and without an estimate, per MB of memory
	Limit     int           // most samples per window; 0 is stats.DefaultLimit
	Exec      Exec          // what T_e is
}

// Exec says which execution time of the window T_e is (section 5.5, Fig. 17).
type Exec uint8

// Readings of T_e; the zero value is the paper's choice.
const (
	ExecMedian Exec = iota
	ExecMean
	ExecP25
	ExecP75
)

// window is a statistic of recent samples.
type window interface {
	Add(now policies.Time, v time.Duration)
	Value(now policies.Time) (time.Duration, bool)
}

// executions makes the window that T_e is read from.
func (c *CSSConfig) executions() window {
	switch c.Exec {
	case ExecMean:
		return stats.NewMean(c.Window, c.Limit)
	case ExecP25:
		return stats.NewQuartile(1, c.Window, c.Limit)
	case ExecP75:
		return stats.NewQuartile(3, c.Window, c.Limit)
	case ExecMedian:
	}
	return stats.NewMedian(c.Window, c.Limit)
}

// DefaultCSS returns the configuration of the preset cidre: the paper's
// 15-minute window, and 1.7 ms per MB, which gives the paper's mean cold start
// for its mean memory.
func DefaultCSS() CSSConfig {
	return CSSConfig{Window: 15 * time.Minute, Delay: HeadAge, Timer: true, ColdPerMB: stats.DefaultColdPerMB}
}

// CSS is conditional speculative scaling (section 3.2, Algorithm 1).
type CSS struct {
	cfg     CSSConfig
	funcs   []*cssFunc // by FuncID
	raced   []uint64   // by SandboxID: Born of the sandbox there that a race started
	toggles [2]int64   // to off, to on
}

// cssFunc is what CSS knows about one function.
type cssFunc struct {
	c   *CSS
	bss bool // the race is on; Algorithm 1's BSS

	exec window        // T_e
	cold *stats.Median // T_p

	// T_i: the sandbox that became ready last among those of a race.
	last     policies.SandboxID
	lastBorn uint64
	readyAt  policies.Time
	idle     time.Duration // T_i once known
	idleIs   idleState

	// T_d: the last completed delayed wait whose verdict was to wait only.
	delay   time.Duration
	delayAt policies.Time // Never: unknown
}

type idleState uint8

const (
	idleUnknown idleState = iota
	idleYet               // not used so far: T_i grows with time
	idleKnown             // used for the first time after idle
	idleWasted            // evicted unused
)

// NewCSS returns a scaler without observations. It fails on a window or a
// cost that is not positive.
func NewCSS(cfg CSSConfig) (*CSS, error) {
	switch {
	case cfg.Window <= 0:
		return nil, errors.New("make css: the window must be longer than 0")
	case cfg.ColdPerMB <= 0:
		return nil, errors.New("make css: the cold start per MB must be longer than 0")
	}
	return &CSS{cfg: cfg}, nil
}

func (c *CSS) of(id policies.FuncID) *cssFunc {
	for int(id) >= len(c.funcs) {
		c.funcs = append(c.funcs, &cssFunc{
			c: c, bss: true,
			exec: c.cfg.executions(),
			cold: stats.NewMedian(c.cfg.Window, c.cfg.Limit),
			last: policies.NoSandbox,
		})
	}
	return c.funcs[id]
}

// Blocked is Algorithm 1.
func (c *CSS) Blocked(v policies.View, r policies.Request) (policies.Verdict, policies.Outcome) {
	s, f, now := c.of(r.Fn), v.Func(r.Fn), v.Now()
	if s.bss {
		if s.wasteful(now) {
			s.switchOff()
		}
	} else if s.waited(f, now) > s.coldStart(f, now) {
		s.switchOn()
	}
	if s.bss {
		return policies.Verdict{Start: 1, Again: s.again(f, now)}, nil
	}
	verdict := policies.Verdict{Again: s.again(f, now)}
	if f.Live == 0 && f.Queued == 0 {
		verdict.Start = 1 // nobody else could serve it
	}
	return verdict, s
}

// Recheck bounds the wait. When the head has waited T_p, the race is on again
// and everybody who waits gets a start.
func (c *CSS) Recheck(v policies.View, fn policies.FuncID) policies.Verdict {
	s, f, now := c.of(fn), v.Func(fn), v.Now()
	if f.HeadSince == policies.Never {
		return policies.Verdict{}
	}
	if c.cfg.Timer && now.Sub(f.HeadSince) >= s.coldStart(f, now) {
		if !s.bss {
			s.switchOn()
		}
		return policies.Verdict{Start: short(f)}
	}
	verdict := policies.Verdict{Again: s.again(f, now)}
	if f.Live == 0 && f.Queued == 0 {
		verdict.Start = 1
	}
	return verdict
}

// again returns the moment at which the head will have waited T_p.
func (s *cssFunc) again(f *policies.Func, now policies.Time) policies.Time {
	if !s.c.cfg.Timer || f.HeadSince == policies.Never {
		return policies.Never
	}
	return f.HeadSince.Add(s.coldStart(f, now))
}

// wasteful is lines 1 to 5 of Algorithm 1: T_i > T_e, where an unknown value
// keeps the race on, and a sandbox evicted unused was always wasteful.
func (s *cssFunc) wasteful(now policies.Time) bool {
	te, ok := s.exec.Value(now)
	if !ok || s.idleIs == idleUnknown || now.Sub(s.readyAt) > s.c.cfg.Window {
		return false
	}
	switch s.idleIs {
	case idleYet:
		return now.Sub(s.readyAt) > te
	case idleKnown:
		return s.idle > te
	case idleWasted:
		return true
	case idleUnknown:
	}
	return false
}

// waited is T_d, 0 when unknown.
func (s *cssFunc) waited(f *policies.Func, now policies.Time) time.Duration {
	var d time.Duration
	if s.delayAt != policies.Never && now.Sub(s.delayAt) <= s.c.cfg.Window {
		d = s.delay
	}
	if s.c.cfg.Delay == HeadAge && f.HeadSince != policies.Never {
		d = max(d, now.Sub(f.HeadSince))
	}
	return d
}

// coldStart is T_p: the median of the window, before that what the driver
// estimates, before that a model of memory.
func (s *cssFunc) coldStart(f *policies.Func, now policies.Time) time.Duration {
	if d, ok := s.cold.Value(now); ok {
		return d
	}
	if f.ColdNow > 0 {
		return f.ColdNow
	}
	return time.Duration(f.Spec.MB) * s.c.cfg.ColdPerMB
}

func (s *cssFunc) switchOff() {
	s.bss = false
	s.delayAt = policies.Never // T_d tells about the time after this moment
	s.c.toggles[0]++
}

func (s *cssFunc) switchOn() {
	s.bss = true
	s.last, s.idleIs = policies.NoSandbox, idleUnknown // a stale T_i must not switch it off at once
	s.c.toggles[1]++
}

// Delayed, Cold and Abandoned make cssFunc the Outcome of a request that was
// told to wait only: only its delayed start is a sample of T_d.
func (s *cssFunc) Delayed(now policies.Time, wait time.Duration) {
	s.delay, s.delayAt = wait, now
}

// Cold is no sample of T_d: the sandbox was started while it waited.
func (s *cssFunc) Cold(policies.Time, time.Duration) {}

// Abandoned is no sample of T_d: nobody knows how long it would have waited.
func (s *cssFunc) Abandoned(policies.Time, time.Duration) {}

// Observe collects T_e, T_p and T_i.
func (c *CSS) Observe(v policies.View, f policies.Fact) {
	switch f.Kind {
	case policies.FactFinished:
		c.of(f.Fn).exec.Add(v.Now(), f.Dur)
	case policies.FactStarted:
		if c.of(f.Fn).bss {
			c.race(v.Sandbox(f.Sandbox))
		}
	case policies.FactReady:
		c.ready(v.Sandbox(f.Sandbox), v.Now())
	case policies.FactUsed:
		c.of(f.Fn).settle(v.Sandbox(f.Sandbox), v.Now(), idleKnown)
	case policies.FactEvicted:
		c.of(f.Fn).settle(v.Sandbox(f.Sandbox), v.Now(), idleWasted)
	case policies.FactGone: // died unused: tells nothing
		c.of(f.Fn).settle(v.Sandbox(f.Sandbox), v.Now(), idleUnknown)
	case policies.FactArrived, policies.FactIdle, policies.FactDropped:
	}
}

// race notes that a race started the sandbox; never a prewarmed one.
func (c *CSS) race(b *policies.Sandbox) {
	for int(b.ID) >= len(c.raced) {
		c.raced = append(c.raced, 0)
	}
	if b.Cause == policies.ForDemand {
		c.raced[b.ID] = b.Born
	}
}

// ready takes a sample of T_p, from the moment when memory was granted, and
// makes the sandbox the one that T_i is about if a race started it.
func (c *CSS) ready(b *policies.Sandbox, now policies.Time) {
	s := c.of(b.Fn)
	s.cold.Add(now, b.ReadyAt.Sub(b.StartedAt))
	if int(b.ID) < len(c.raced) && c.raced[b.ID] == b.Born {
		s.last, s.lastBorn, s.readyAt, s.idleIs = b.ID, b.Born, b.ReadyAt, idleYet
	}
}

// settle ends the idle time that T_i measures, once.
func (s *cssFunc) settle(b *policies.Sandbox, now policies.Time, is idleState) {
	if s.idleIs == idleYet && s.last == b.ID && s.lastBorn == b.Born {
		s.idle, s.idleIs = now.Sub(s.readyAt), is
	}
}

// Report counts how often the race was switched off and on.
func (c *CSS) Report(put func(string, int64)) {
	put("css_toggles_to_off", c.toggles[0])
	put("css_toggles_to_on", c.toggles[1])
}
