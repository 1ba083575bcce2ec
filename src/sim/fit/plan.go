package fit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/sim/study"
	"github.com/open-lambda/open-lambda/src/trace"
)

// mbPerGB is 1000 as everywhere in this project: GB are decimal.
const mbPerGB = 1000

// Plan is what a fit does.
type Plan struct {
	Start   trace.Synthetic
	Free    []string       // names of parameters to choose; see trace.Parameters
	Targets []trace.Target // Paper is aimed at
	Minutes int            // of the workload in each evaluation; 0 takes all
	Seeds   []uint64       // of the workload, at least one
	// Evaluations bounds the search; 0 only measures.
	Evaluations int
	Parallel    int // simulations at a time, at least 1
}

// Measured is what the targets come to with some parameters.
type Measured struct {
	Values []study.Interval // by target, percent
	Hashes []string         // of actions, by target and seed
}

// Check tells what is wrong with a plan.
func (p *Plan) Check() error {
	if len(p.Targets) == 0 || len(p.Seeds) == 0 || p.Evaluations < 0 || p.Minutes < 0 {
		return fmt.Errorf("plan fit: %d targets, %d seeds, %d evaluations of %d minutes", len(p.Targets), len(p.Seeds), p.Evaluations, p.Minutes)
	}
	if p.Evaluations > 0 && len(p.Free) == 0 {
		return fmt.Errorf("plan fit: no parameter is free")
	}
	for i := range p.Targets {
		t := &p.Targets[i]
		if t.Figure != trace.Overhead && t.Figure != trace.Cold || t.GB <= 0 || math.IsNaN(t.Paper) {
			return fmt.Errorf("plan fit: target %s of %s at %v GB is %v", t.Figure, t.Policy, t.GB, t.Paper)
		}
	}
	_, err := p.free()
	return err
}

// free returns the parameters to choose, in the order of trace.Parameters.
func (p *Plan) free() ([]trace.Parameter, error) {
	var chosen []trace.Parameter
	names := slices.Clone(p.Free)
	for _, q := range trace.Parameters() {
		at := slices.Index(names, q.Name)
		if at < 0 {
			continue
		}
		if !q.Free() {
			return nil, fmt.Errorf("plan fit: %s is stated by the paper and not free", q.Name)
		}
		names = slices.Delete(names, at, at+1)
		chosen = append(chosen, q)
	}
	if len(names) > 0 {
		return nil, fmt.Errorf("plan fit: there is no parameter %q", names[0])
	}
	return chosen, nil
}

// FreeNames lists all parameters that a fit may choose.
func FreeNames() []string {
	var all []string
	for _, p := range trace.Parameters() {
		if p.Free() {
			all = append(all, p.Name)
		}
	}
	return all
}

// Measure simulates what the targets speak of.
func (p *Plan) Measure(ctx context.Context, s trace.Synthetic, minutes int, seeds []uint64) (Measured, error) {
	s = s.First(minutes)
	made := map[uint64]trace.Workload{}
	for _, seed := range seeds {
		w, err := s.Workload(seed)
		if err != nil {
			return Measured{}, err
		}
		made[seed] = w
	}
	plan := study.Plan{
		Base: sim.Config{Nodes: 1, Warmup: true, Languages: 3}, Seeds: seeds, Parallel: p.Parallel,
		Workload: func(seed uint64) (trace.Workload, error) { return made[seed], nil },
	}
	for _, policy := range p.policies() {
		parsed, err := study.ParsePolicy(policy, trace.DefaultModel().ColdPerMB)
		if err != nil {
			return Measured{}, err
		}
		plan.Policies = append(plan.Policies, parsed)
	}
	plan.PoolsMB = p.pools()
	cells, err := study.Run(ctx, plan)
	if err != nil {
		return Measured{}, fmt.Errorf("measure targets: %w", err)
	}
	return p.pick(cells), nil
}

func (p *Plan) policies() []string {
	var all []string
	for i := range p.Targets {
		if t := &p.Targets[i]; !slices.Contains(all, t.Policy) {
			all = append(all, t.Policy)
		}
	}
	return all
}

func (p *Plan) pools() []int64 {
	var all []int64
	for i := range p.Targets {
		if mb := poolMB(&p.Targets[i]); !slices.Contains(all, mb) {
			all = append(all, mb)
		}
	}
	return all
}

func poolMB(t *trace.Target) int64 { return int64(math.Round(t.GB * mbPerGB)) }

// pick finds the targets in the cells.
func (p *Plan) pick(cells []study.Cell) Measured {
	var m Measured
	for i := range p.Targets {
		t := &p.Targets[i]
		at := slices.IndexFunc(cells, func(c study.Cell) bool { return c.Policy == t.Policy && c.PoolMB == poolMB(t) })
		m.Values = append(m.Values, cells[at].Over(func(r *sim.Result) float64 {
			if t.Figure == trace.Cold {
				return 100 * r.ColdRatio
			}
			return 100 * r.Overhead
		}))
		for _, r := range cells[at].Runs {
			m.Hashes = append(m.Hashes, r.ActionHash)
		}
	}
	return m
}

// loss is the mean square of the distances to the targets, points.
func (p *Plan) loss(values []float64) float64 {
	sum := 0.0
	for i := range p.Targets {
		d := values[i] - p.Targets[i].Paper
		sum += d * d
	}
	return sum / float64(len(p.Targets))
}
