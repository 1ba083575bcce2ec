package trace

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Statistics describe a workload as the CIDRE paper does (Table 1, Figs 2 and
// 3). Quantiles have an error of 0.1 %.
type Statistics struct {
	Functions int     `json:"functions"` // that were called
	Requests  int64   `json:"requests"`
	Seconds   float64 `json:"seconds"`

	RPS  Rate `json:"rps"`  // Table 1: requests in a second
	GBps Rate `json:"gbps"` // Table 1: memory of the requests that arrive in a second, GB

	MeanExecMS float64 `json:"mean_exec_ms"`
	MeanColdMS float64 `json:"mean_cold_ms"` // over requests
	MeanMB     float64 `json:"mean_mb"`      // over requests

	ColdOverExec Quantiles `json:"cold_over_exec"`      // Fig. 2: of a request
	ColdBelow    float64   `json:"cold_below_exec"`     // Fig. 2: share of requests for which it is at most 1
	PerMinute    Quantiles `json:"requests_per_minute"` // Fig. 3: of a function in a minute in which it was called
}

// Rate is over the seconds of a workload.
type Rate struct {
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

// Quantiles of a distribution.
type Quantiles struct {
	P10 float64 `json:"p10"`
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Describe reads a workload once. Memory does not grow with its length.
func Describe(w Workload) (Statistics, error) {
	s, err := w.Open()
	if err != nil {
		return Statistics{}, err
	}
	defer s.Close() //nolint:errcheck // read only
	c := newCensus()
	var inv Invocation
	for {
		ok, err := s.Next(&inv)
		if err != nil {
			return Statistics{}, err
		}
		if !ok {
			return c.statistics(w.Span), nil
		}
		c.add(&inv, &s.Functions()[inv.Function])
	}
}

// census counts a workload as it passes.
type census struct {
	n                     int64
	last                  time.Duration
	execSum, coldSum, mbs float64
	ratio, perMinute      *hdrhistogram.Histogram
	below                 int64
	second                int64
	inSecond, mbInSecond  float64
	rps, gbps             extremes
	inMinute              []int64 // by function
	called                []bool
}

const ratioUnit = 1e4 // the histogram of ratios counts in 1/10,000

func newCensus() *census {
	return &census{
		ratio:     hdrhistogram.New(1, 1e12, 3),
		perMinute: hdrhistogram.New(1, 1e9, 3),
	}
}

func (c *census) add(inv *Invocation, p *Profile) {
	c.advance(int64(inv.At / time.Second))
	for len(c.inMinute) <= inv.Function {
		c.inMinute = append(c.inMinute, 0)
		c.called = append(c.called, false)
	}
	c.n++
	c.last = inv.At
	c.inSecond++
	c.mbInSecond += float64(p.MB)
	c.inMinute[inv.Function]++
	c.called[inv.Function] = true
	c.execSum += inv.Exec.Seconds()
	c.coldSum += p.Cold.Seconds()
	c.mbs += float64(p.MB)
	if p.Cold <= inv.Exec {
		c.below++
	}
	// No execution time at all counts as the least that is told apart.
	r := float64(p.Cold) / float64(max(inv.Exec, time.Microsecond))
	_ = c.ratio.RecordValue(int64(math.Min(r*ratioUnit, 1e12))) // in range
}

// advance closes the seconds and minutes before the given second.
func (c *census) advance(second int64) {
	for c.second < second {
		c.closeSecond()
		c.second++
		if c.second%60 == 0 {
			c.closeMinute()
		}
	}
}

func (c *census) closeSecond() {
	c.rps.add(c.inSecond)
	c.gbps.add(c.mbInSecond / 1000)
	c.inSecond, c.mbInSecond = 0, 0
}

func (c *census) closeMinute() {
	for i, n := range c.inMinute {
		if n > 0 {
			_ = c.perMinute.RecordValue(min(n, 1e9)) // in range
			c.inMinute[i] = 0
		}
	}
}

func (c *census) statistics(span time.Duration) Statistics {
	span = max(span, c.last)
	c.advance(int64((span + time.Second - 1) / time.Second))
	if c.inSecond > 0 {
		c.closeSecond()
	}
	c.closeMinute()
	n := float64(max(1, c.n))
	s := Statistics{
		Requests: c.n, Seconds: span.Seconds(), RPS: c.rps.rate(), GBps: c.gbps.rate(),
		MeanExecMS: 1000 * c.execSum / n, MeanColdMS: 1000 * c.coldSum / n, MeanMB: c.mbs / n,
		ColdOverExec: quantiles(c.ratio, ratioUnit), ColdBelow: float64(c.below) / n, PerMinute: quantiles(c.perMinute, 1),
	}
	for _, called := range c.called {
		if called {
			s.Functions++
		}
	}
	return s
}

func quantiles(h *hdrhistogram.Histogram, unit float64) Quantiles {
	at := func(q float64) float64 { return float64(h.ValueAtQuantile(q)) / unit }
	return Quantiles{at(10), at(50), at(90), at(99), float64(h.Max()) / unit}
}

// extremes are the mean, least and most of a sequence.
type extremes struct {
	n, sum, least, most float64
}

func (e *extremes) add(v float64) {
	if e.n == 0 {
		e.least, e.most = v, v
	}
	e.n++
	e.sum += v
	e.least, e.most = min(e.least, v), max(e.most, v)
}

func (e *extremes) rate() Rate { return Rate{e.sum / max(1, e.n), e.least, e.most} }
