package repro

import (
	"context"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/sim/study"
	"github.com/open-lambda/open-lambda/src/trace"
)

// Point is one simulation: the cache is warmed by one replay of the workload,
// a second replay is measured. It is comparable and names its cell.
type Point struct {
	Workload string  `json:"workload"` // see FindWorkload
	Minutes  int     `json:"minutes"`  // the first ones of the workload; 0 is all
	IAT      float64 `json:"iat"`      // factor on the times between arrivals
	Exec     float64 `json:"exec"`     // factor on execution times
	Policy   string  `json:"policy"`   // see study.ParsePolicy
	PoolMB   int64   `json:"pool_mb"`
	Slots    int     `json:"slots"` // requests that a sandbox serves at a time
	Seed     uint64  `json:"seed"`
}

// GB is the memory, decimal as in the paper.
func (p Point) GB() float64 { return float64(p.PoolMB) / mbPerGB }

const (
	mbPerGB   = 1000
	languages = 3 // that functions are spread over, for RainbowCake's layers
)

// Measured is what came of a Point. Times are in ms.
type Measured struct {
	Point  Point       `json:"point"`
	Build  string      `json:"build"` // the program that measured
	Result *sim.Result `json:"result"`
	Wait   Curve       `json:"wait"`       // from arrival to execution
	Total  Curve       `json:"end_to_end"` // from arrival to the end
	// Of the delayed requests: their wait, and the cold start that their
	// function would have had.
	Delayed     Curve `json:"delayed"`
	DelayedCold Curve `json:"delayed_cold"`
	// Sooner is the share of delayed requests whose wait was shorter than that.
	Sooner float64 `json:"sooner"`
	// Of the cold starts under FaasCache: the wait for a busy sandbox that
	// would have been, theirs, and how often the former was shorter. See missed.
	Missed       Curve   `json:"missed,omitempty"`
	MissedCold   Curve   `json:"missed_cold,omitempty"`
	MissedSooner float64 `json:"missed_sooner,omitempty"`
	// BusyMB is the mean memory of sandboxes that did not idle.
	BusyMB float64 `json:"busy_mb"`
	// Cost is that of the simulation, and of making the workload for the first
	// of those that share one.
	Cost  Cost  `json:"cost"`
	bytes int64 // of its cell
}

// simulate runs a point on its workload, which must be that of the point but
// for the factors.
func simulate(ctx context.Context, p Point, w trace.Workload, functions []trace.Profile) (*Measured, error) {
	policy, err := study.ParsePolicy(p.Policy, trace.DefaultModel().ColdPerMB)
	if err != nil {
		return nil, err
	}
	g := newGauge(functions)
	if p.Policy == caching {
		g.missed = &missed{}
	}
	res, err := sim.Run(ctx, sim.Config{
		Workload: stretched(w, p.IAT, p.Exec), Warmup: true, Nodes: 1, PoolMB: p.PoolMB, Languages: languages,
		Policy: policy.New, Future: policy.Future, Seed: p.Seed, Slots: p.Slots, Records: g.add,
	})
	if err != nil {
		return nil, fmt.Errorf("simulate %s under %s with %v GB, seed %d: %w", p.Workload, p.Policy, p.GB(), p.Seed, err)
	}
	res.Memory, res.Counters = nil, nil // of no figure, and long
	m := &Measured{
		Point: p, Result: res, Wait: g.wait.curve(), Total: g.total.curve(), Delayed: g.delayed.curve(), DelayedCold: g.cold.curve(),
		BusyMB: res.MeanMB * (1 - res.IdleGBs/max(res.UsedGBs, 1e-9)),
	}
	if g.waited > 0 {
		m.Sooner = float64(g.sooner) / float64(g.waited)
	}
	if g.missed != nil {
		m.Missed, m.MissedCold, m.MissedSooner = g.missed.curves()
	}
	return m, nil
}

// gauge takes the distributions that a Result does not have.
type gauge struct {
	byName                     map[string]time.Duration
	wait, total, delayed, cold histogram
	sooner, waited             int64
	missed                     *missed // nil: not asked for
}

func newGauge(functions []trace.Profile) *gauge {
	g := &gauge{byName: map[string]time.Duration{}, wait: newHistogram(), total: newHistogram(), delayed: newHistogram(), cold: newHistogram()}
	for _, f := range functions {
		g.byName[f.Name] = f.Cold
	}
	return g
}

func (g *gauge) add(r *sim.Record) error {
	if r.Rejected != engine.ReasonNone {
		return nil
	}
	if g.missed != nil {
		g.missed.add(r)
	}
	g.wait.add(r.Wait)
	g.total.add(r.Wait + r.Exec)
	if r.Kind == policies.Delayed {
		cold := g.byName[r.Function]
		g.delayed.add(r.Wait)
		g.cold.add(cold)
		g.waited++
		if r.Wait < cold {
			g.sooner++
		}
	}
	return nil
}

// histogram holds times from 1 us to 10 h with an error of 0.1 %.
type histogram struct{ h *hdrhistogram.Histogram }

func newHistogram() histogram {
	return histogram{hdrhistogram.New(1, int64(10*time.Hour/time.Microsecond), 3)}
}

func (h histogram) add(d time.Duration) {
	_ = h.h.RecordValue(min(int64(d/time.Microsecond), h.h.HighestTrackableValue())) // in range
}

func (h histogram) curve() Curve {
	if h.h.TotalCount() == 0 {
		return nil
	}
	c := make(Curve, curveSteps+1)
	for i := range c {
		c[i] = float64(h.h.ValueAtQuantile(100*float64(i)/curveSteps)) / 1000
	}
	return c
}
