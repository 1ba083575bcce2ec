package metrics

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// Tally keeps the counters of /stats: how often, and the mean time.
type Tally struct {
	all sync.Map // name -> *Count
}

// Count is one counter. Its methods may be called concurrently.
type Count struct {
	n  atomic.Int64
	ns atomic.Int64
}

// NewTally returns a tally without counters.
func NewTally() *Tally { return &Tally{} }

// Count returns the counter of a name, making it if needed. Keep it: the
// look-up is not for the hot path.
func (t *Tally) Count(name string) *Count {
	if c, ok := t.all.Load(name); ok {
		return c.(*Count)
	}
	c, _ := t.all.LoadOrStore(name, &Count{})
	return c.(*Count)
}

// Add counts one event that took d.
func (c *Count) Add(d time.Duration) {
	c.n.Add(1)
	c.ns.Add(int64(d))
}

// Stats puts every counter into s as <name>.cnt and <name>.ms-avg.
func (t *Tally) Stats(s api.Stats) {
	t.all.Range(func(k, v any) bool {
		name, c := k.(string), v.(*Count)
		n := c.n.Load()
		s[name+".cnt"] = float64(n)
		if n > 0 {
			s[name+".ms-avg"] = float64(c.ns.Load()) / float64(n) / float64(time.Millisecond)
		}
		return true
	})
}
