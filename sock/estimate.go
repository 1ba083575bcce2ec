package sock

import (
	"sync"
	"time"
)

// newest is the share of the last measurement in an average.
const newest = 0.2

// estimates are moving averages of what starts took, by what the sandbox was
// made from.
type estimates struct {
	mu   sync.Mutex
	mean map[string]time.Duration // by origin, or by the recipe of a zygote of the tree
}

func (e *estimates) add(from string, took time.Duration) {
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

// first returns the average of the first that was ever measured.
func (e *estimates) first(from ...string) (time.Duration, bool) {
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
		return p.estimates.first(z.recipe.key, FromZygote)
	}
	switch {
	case p.nursery == nil:
		return p.estimates.first(Fresh)
	case p.pool.ready():
		return p.estimates.first(FromPool, FromZygote)
	}
	return p.estimates.first(FromZygote, FromPool)
}
