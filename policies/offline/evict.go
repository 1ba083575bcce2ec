package offline

import (
	"errors"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/ranking"
)

// ErrNoOracle says that a clairvoyant policy was asked for where nobody knows
// the future.
var ErrNoOracle = errors.New("the offline policies need a recorded workload: they run in the simulator only")

// Belady is the evictor. Its order changes only at arrivals and when the
// number of idle sandboxes of a function changes, because the k-th next
// arrival is a moment, not a distance.
type Belady struct {
	oracle policies.Oracle
	idle   ranking.Ranking // by minus the moment of the next use
}

// NewBelady returns an evictor that asks the oracle.
func NewBelady(o policies.Oracle) (*Belady, error) {
	if o == nil {
		return nil, ErrNoOracle
	}
	return &Belady{oracle: o}, nil
}

// never is later than every moment.
const never = float64(1 << 63)

func (e *Belady) rescore(fn policies.FuncID) {
	k := e.idle.Len(fn)
	if k == 0 {
		return
	}
	next := never
	if t := e.oracle.NextArrival(fn, k); t != policies.Never {
		next = float64(t)
	}
	e.idle.Score(fn, -next)
}

// Insert adds an idle sandbox.
func (e *Belady) Insert(v policies.View, id policies.SandboxID) {
	b := v.Sandbox(id)
	e.idle.Insert(b)
	e.rescore(b.Fn)
}

// Remove takes one out.
func (e *Belady) Remove(v policies.View, id policies.SandboxID) {
	b := v.Sandbox(id)
	e.idle.Remove(b)
	e.rescore(b.Fn)
}

// Next names the one that will be needed last.
func (e *Belady) Next(policies.View, policies.Start) (policies.SandboxID, bool) { return e.idle.Min() }

// Expire never has anything: the evictor acts under pressure only.
func (e *Belady) Expire(policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	return policies.NoSandbox, policies.FormGone, policies.Never
}

// Observe moves a function on in its future at each arrival.
func (e *Belady) Observe(_ policies.View, x policies.Fact) {
	if x.Kind == policies.FactArrived {
		e.rescore(x.Fn)
	}
}
