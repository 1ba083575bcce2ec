package sock

import (
	"sync"
	"time"
)

// newest is the share of the last measurement in an average.
const newest = 0.2

// Estimates are moving averages of what starts took, by what the sandbox was
// made from.
type Estimates struct {
	mu   sync.Mutex
	mean map[string]time.Duration // by origin, or by the recipe of a zygote of the tree
}

// Add takes a measurement.
func (e *Estimates) Add(from string, took time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mean == nil {
		e.mean = map[string]time.Duration{}
	}
	if old, ok := e.mean[from]; ok {
		took = old + time.Duration(newest*float64(took-old))
	}
	e.mean[from] = took
}

// First returns the average of the first that was ever measured.
func (e *Estimates) First(from ...string) (time.Duration, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, key := range from {
		if mean, ok := e.mean[key]; ok {
			return mean, true
		}
	}
	return 0, false
}

// madeFrom is what a child's start is counted under.
func (c *child) madeFrom() string {
	if c.zygote != "" {
		return c.zygote
	}
	return c.origin
}

// Estimate says what making a sandbox of spec would take now: as long as
// starts from the same zygote, or else from the same origin, have taken of
// late. False before any was measured.
func (p *Provider) Estimate(spec Spec) (time.Duration, bool) {
	if z := p.tree.peek(&spec); z != nil && z.saves >= forkGain {
		return p.estimates.First(z.recipe.key, FromZygote)
	}
	switch {
	case p.nursery == nil:
		return p.estimates.First(Fresh)
	case p.pool.ready():
		return p.estimates.First(FromPool, FromZygote)
	}
	return p.estimates.First(FromZygote, FromPool)
}
