package study

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/trace"
)

// Plan is a study.
type Plan struct {
	// Base is the configuration that all runs share; Workload, Policy, Future,
	// PoolMB, Seed and the hooks are set per run.
	Base     sim.Config
	Workload func(seed uint64) (trace.Workload, error)
	Policies []Policy
	PoolsMB  []int64
	Seeds    []uint64
	Parallel int // runs at a time, at least 1
	// Hooks, if not nil, sets the hooks of a run before it begins. Done is
	// called when it has ended. Neither is called by two runs at once; an error
	// ends the study.
	Hooks func(Key, *sim.Config) error
	Done  func(Key, *sim.Result) error
}

// Key names a run.
type Key struct {
	Policy string `json:"policy"`
	PoolMB int64  `json:"pool_mb"`
	Seed   uint64 `json:"seed"`
}

// Cell is a policy with a pool size, over all seeds.
type Cell struct {
	Policy string        `json:"policy"`
	PoolMB int64         `json:"pool_mb"`
	Runs   []*sim.Result `json:"runs"` // by seed
}

// Over returns the interval of a figure over the seeds.
func (c *Cell) Over(figure func(*sim.Result) float64) Interval {
	samples := make([]float64, len(c.Runs))
	for i, r := range c.Runs {
		samples[i] = figure(r)
	}
	return NewInterval(samples)
}

// Run performs the study. Cells are in order of pool size, then policy. The
// first error ends all runs.
func Run(ctx context.Context, p Plan) ([]Cell, error) {
	var cells []Cell
	for _, mb := range p.PoolsMB {
		for _, policy := range p.Policies {
			cells = append(cells, Cell{Policy: policy.Label, PoolMB: mb, Runs: make([]*sim.Result, len(p.Seeds))})
		}
	}
	var mu sync.Mutex // of the hooks
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, p.Parallel))
	for i := range cells {
		for k, seed := range p.Seeds {
			g.Go(func() error {
				policy := p.Policies[i%len(p.Policies)]
				key := Key{policy.Label, cells[i].PoolMB, seed}
				res, err := p.one(ctx, &mu, key, policy)
				if err != nil {
					return fmt.Errorf("simulate %s with %d MB, seed %d: %w", key.Policy, key.PoolMB, key.Seed, err)
				}
				cells[i].Runs[k] = res
				return nil
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return cells, nil
}

func (p *Plan) one(ctx context.Context, mu *sync.Mutex, key Key, policy Policy) (*sim.Result, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	w, err := p.Workload(key.Seed)
	if err != nil {
		return nil, err
	}
	cfg := p.Base
	cfg.Workload, cfg.Policy, cfg.Future, cfg.PoolMB, cfg.Seed = w, policy.New, policy.Future, key.PoolMB, key.Seed
	if p.Hooks != nil {
		mu.Lock()
		err := p.Hooks(key, &cfg)
		mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
	res, err := sim.Run(ctx, cfg)
	if err == nil && p.Done != nil {
		mu.Lock()
		err = p.Done(key, res)
		mu.Unlock()
	}
	return res, err
}
