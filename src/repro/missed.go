package repro

import (
	"cmp"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/sim"
)

// missed answers a what-if about a run of a policy that never waits for a busy
// sandbox: how long each request that got a cold start would have waited for the
// sandbox of its function that came free first.
type missed struct {
	calls map[string][]call // by function
}

// call is a request that has ended.
type call struct {
	arrived, began, ended time.Duration
	cold                  bool
}

func (m *missed) add(r *sim.Record) {
	if r.Rejected != engine.ReasonNone {
		return
	}
	if m.calls == nil {
		m.calls = map[string][]call{}
	}
	m.calls[r.Function] = append(m.calls[r.Function], call{r.At, r.At + r.Wait, r.At + r.Wait + r.Exec, r.Kind == policies.Cold})
}

// curves returns the distributions of that wait and of the wait for the cold
// start, over the cold starts at which a sandbox was busy, and for which share
// of them the former was shorter.
func (m *missed) curves() (waiting, cold Curve, sooner float64) {
	var waits, colds []float64
	n := 0
	for _, calls := range m.calls {
		each(calls, func(c *call, free time.Duration) {
			waits = append(waits, float64(free-c.arrived)/float64(time.Millisecond))
			colds = append(colds, float64(c.began-c.arrived)/float64(time.Millisecond))
			if free < c.began {
				n++
			}
		})
	}
	sooner = float64(n) / float64(max(1, len(waits)))
	return newCurve(waits), newCurve(colds), sooner
}

// each visits the cold starts of a function at which one of its sandboxes was
// busy, with the moment at which the first of those came free.
func each(calls []call, visit func(c *call, free time.Duration)) {
	byBegin := slices.Clone(calls)
	slices.SortFunc(byBegin, func(a, b call) int { return cmp.Compare(a.began, b.began) })
	slices.SortFunc(calls, func(a, b call) int { return cmp.Compare(a.arrived, b.arrived) })
	var busy []time.Duration // ends, ascending
	next := 0
	for i := range calls {
		c := &calls[i]
		for ; next < len(byBegin) && byBegin[next].began <= c.arrived; next++ {
			at, _ := slices.BinarySearch(busy, byBegin[next].ended)
			busy = slices.Insert(busy, at, byBegin[next].ended)
		}
		for len(busy) > 0 && busy[0] <= c.arrived {
			busy = busy[1:]
		}
		if c.cold && len(busy) > 0 {
			visit(c, busy[0])
		}
	}
}
