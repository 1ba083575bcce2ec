package offline

import (
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/heap"
)

// Scaler compares the exact earliest free time with a cold start.
type Scaler struct {
	oracle    policies.Oracle
	coldPerMB time.Duration
	free      heap.Forest     // tree FuncID: its busy sandboxes by the moment they are through
	freeAt    []policies.Time // by SandboxID
}

// NewScaler returns a scaler that asks the oracle. coldPerMB is the length of a
// cold start without an estimate, per MB of memory.
func NewScaler(o policies.Oracle, coldPerMB time.Duration) (*Scaler, error) {
	if o == nil {
		return nil, ErrNoOracle
	}
	return &Scaler{oracle: o, coldPerMB: coldPerMB}, nil
}

// Blocked binds the request to the busy sandbox that is through first, or to
// a start if that is ready sooner.
func (s *Scaler) Blocked(v policies.View, r policies.Request) (policies.Verdict, policies.Outcome) {
	f := v.Func(r.Fn)
	cold := f.ColdNow
	if cold == 0 {
		cold = time.Duration(f.Spec.MB) * s.coldPerMB
	}
	id, k, ok := s.free.Min(int32(r.Fn))
	if !ok || v.Now().Add(cold) < policies.Time(k.B) {
		return policies.Verdict{Start: 1, Bind: policies.ToStart}, nil
	}
	s.set(v.Sandbox(policies.SandboxID(id)), policies.Time(k.B).Add(s.oracle.Exec(r.ID)))
	return policies.Verdict{Bind: policies.ToSandbox, Sandbox: policies.SandboxID(id)}, nil
}

// Recheck wants nothing: what waits is bound.
func (s *Scaler) Recheck(policies.View, policies.FuncID) policies.Verdict {
	return policies.Verdict{}
}

func (s *Scaler) set(b *policies.Sandbox, t policies.Time) {
	for int(b.ID) >= len(s.freeAt) {
		s.freeAt = append(s.freeAt, policies.Never)
	}
	s.freeAt[b.ID] = t
	s.free.Set(int32(b.Fn), int32(b.ID), heap.Key{B: int64(t), C: b.Born})
}

// Observe follows when sandboxes will be through. One that takes the next
// request of its own queue is through when it was expected to be. That is exact
// for one slot; of several slots only the first to be taken is followed.
func (s *Scaler) Observe(v policies.View, x policies.Fact) {
	switch x.Kind {
	case policies.FactUsed:
		b := v.Sandbox(x.Sandbox)
		if !s.free.Has(int32(b.ID)) {
			s.set(b, v.Now().Add(s.oracle.Exec(x.Req)))
		}
	case policies.FactIdle, policies.FactGone:
		s.free.Remove(int32(x.Fn), int32(x.Sandbox))
	case policies.FactArrived, policies.FactStarted, policies.FactReady, policies.FactFinished,
		policies.FactEvicted, policies.FactDropped:
	}
}
