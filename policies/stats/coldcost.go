package stats

import (
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

// DefaultColdPerMB is the cold start per MB of memory that is assumed without
// anything better: it gives the CIDRE paper's mean cold start for its mean
// memory.
const DefaultColdPerMB = 1700 * time.Microsecond

// ColdCost is the mean cold start of a function: the Cost of greedy-dual
// priorities, which all sandboxes of a function share (CIDRE section 2.4).
// The zero value has seen nothing.
type ColdCost struct {
	sum float64 // ms
	n   int64
}

// Add counts the start of a sandbox that became ready, from the moment when
// memory was granted.
func (c *ColdCost) Add(b *policies.Sandbox) {
	c.sum += Millis(b.ReadyAt.Sub(b.StartedAt))
	c.n++
}

// Millis returns the mean in ms: of the starts seen; before that what the
// driver estimates; before that perMB for each MB of memory.
func (c *ColdCost) Millis(f *policies.Func, perMB time.Duration) float64 {
	switch {
	case c.n > 0:
		return c.sum / float64(c.n)
	case f.ColdNow > 0:
		return Millis(f.ColdNow)
	}
	return float64(f.Spec.MB) * Millis(perMB)
}

// Millis returns a duration in ms.
func Millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
