package knative

import (
	"errors"
	"math"
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

// Config is what can be set.
type Config struct {
	Stable    time.Duration // window of normal decisions, a multiple of Tick
	Panic     time.Duration // window of panic decisions, a multiple of Tick
	Tick      time.Duration // between two decisions
	Threshold float64       // a panic begins at this ratio of wanted to ready
	Target    float64       // requests in flight per sandbox
	UpRate    float64       // most growth per decision, a factor
	DownRate  float64       // most shrinkage per decision, a divisor
	MayEvict  bool          // starts may evict: for Queue, which has no others
}

// Default returns the settings of Dirigent.
func Default() Config {
	return Config{
		Stable: time.Minute, Panic: 6 * time.Second, Tick: 2 * time.Second,
		Threshold: 2, Target: 1, UpRate: 1000, DownRate: 2,
	}
}

// Validate says which field no policy can run with.
func (c Config) Validate() error {
	switch {
	case c.Tick <= 0 || c.Panic < c.Tick || c.Stable < c.Panic:
		return errors.New("make knative: need 0 < tick <= panic <= stable")
	case c.Stable%c.Tick != 0 || c.Panic%c.Tick != 0 || c.Stable/c.Tick > 10_000:
		return errors.New("make knative: the windows must be multiples of the tick, at most 10000")
	case c.Threshold <= 1 || c.Target <= 0:
		return errors.New("make knative: the threshold must be above 1 and the target above 0")
	case c.UpRate <= 1 || c.DownRate <= 1:
		return errors.New("make knative: the rates must be above 1")
	}
	return nil
}

// scaler is the autoscaler of one function.
type scaler struct {
	inFlight int           // requests now
	since    policies.Time // of the last change, or of the last tick
	area     int64         // request-ns since the last tick
	buckets  []int64       // request-ns by tick, a ring
	ticks    int           // ever
	sums     [2]int64      // over the stable and the panic window

	panicAt policies.Time // last moment over the threshold; Never outside a panic
	most    int           // largest wish since the panic began
	desired int
}

// change notes the number of requests in flight from now on.
func (s *scaler) change(now policies.Time, inFlight int) {
	s.area += int64(now.Sub(s.since)) * int64(s.inFlight)
	s.since, s.inFlight = now, inFlight
}

// asleep reports that a decision would be 0 again: no ring is kept for it.
func (s *scaler) asleep() bool {
	return s.inFlight == 0 && s.area == 0 && s.sums[0] == 0 && s.desired == 0 && s.panicAt == policies.Never
}

// tick ends a bucket and decides, with the given number of ready sandboxes.
func (s *scaler) tick(cfg *Config, now policies.Time, ready int) {
	s.change(now, s.inFlight)
	n, p := int(cfg.Stable/cfg.Tick), int(cfg.Panic/cfg.Tick)
	if s.buckets == nil {
		s.buckets = make([]int64, n)
	}
	at := s.ticks % n
	s.sums[0] += s.area - s.buckets[at]
	s.sums[1] += s.area
	if s.ticks >= p {
		s.sums[1] -= s.buckets[(at-p+n)%n]
	}
	s.buckets[at], s.area = s.area, 0
	s.ticks++
	mean := func(sum int64, window int) float64 {
		return float64(sum) / (float64(min(s.ticks, window)) * float64(cfg.Tick))
	}
	s.decide(cfg, now, mean(s.sums[0], n), mean(s.sums[1], p), ready)
}

// decide is the formula of the package documentation.
func (s *scaler) decide(cfg *Config, now policies.Time, stable, short float64, ready int) {
	r := float64(max(1, ready))
	low, high := math.Floor(r/cfg.DownRate), math.Ceil(cfg.UpRate*r)
	wantStable, wantPanic := math.Ceil(stable/cfg.Target), math.Ceil(short/cfg.Target)
	switch over := wantPanic/r >= cfg.Threshold; {
	case over && s.panicAt == policies.Never:
		s.panicAt, s.most = now, 0
	case over:
		s.panicAt = now
	case s.panicAt != policies.Never && now.Sub(s.panicAt) > cfg.Stable:
		s.panicAt = policies.Never
	}
	s.desired = int(min(max(wantStable, low), high))
	if s.panicAt != policies.Never {
		s.most = max(s.most, s.desired, int(min(max(wantPanic, low), high)))
		s.desired = s.most
	}
}
