package flame

import (
	"errors"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/ranking"
	"github.com/open-lambda/open-lambda/policies/stats"
)

// DefaultTau is the time after which an arrival counts 1/e.
const DefaultTau = 5 * time.Minute

// Flame is the evictor.
type Flame struct {
	tau  time.Duration
	rate []stats.Decay // by FuncID
	idle ranking.Ranking
}

// New returns an evictor that has seen nothing; tau must be longer than 0.
func New(tau time.Duration) (*Flame, error) {
	if tau <= 0 {
		return nil, errors.New("make flame: tau must be longer than 0")
	}
	return &Flame{tau: tau}, nil
}

// Insert adds an idle sandbox.
func (f *Flame) Insert(v policies.View, id policies.SandboxID) {
	b := v.Sandbox(id)
	f.idle.Score(b.Fn, f.of(b.Fn).Log())
	f.idle.Insert(b)
}

// Remove takes one out.
func (f *Flame) Remove(v policies.View, id policies.SandboxID) { f.idle.Remove(v.Sandbox(id)) }

// Next names the least recently used sandbox of the coldest function.
func (f *Flame) Next(policies.View, policies.Start) (policies.SandboxID, bool) { return f.idle.Min() }

// Expire never has anything: Flame evicts under pressure only.
func (f *Flame) Expire(policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	return policies.NoSandbox, policies.FormGone, policies.Never
}

// Observe counts arrivals.
func (f *Flame) Observe(v policies.View, x policies.Fact) {
	if x.Kind == policies.FactArrived {
		d := f.of(x.Fn)
		d.Add(v.Now(), f.tau)
		f.idle.Score(x.Fn, d.Log())
	}
}

func (f *Flame) of(id policies.FuncID) *stats.Decay {
	for int(id) >= len(f.rate) {
		f.rate = append(f.rate, stats.Decay{})
	}
	return &f.rate[id]
}
