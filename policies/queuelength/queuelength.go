package queuelength

import (
	"errors"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/heap"
)

// Unlimited is the L that never starts a sandbox while one is busy.
const Unlimited = -1

// Default is the L that the paper found best (Fig. 7).
const Default = 1

// Scaler queues requests behind busy sandboxes.
type Scaler struct {
	limit  int
	busy   heap.Forest // tree FuncID: its busy sandboxes by wait
	queued []int32     // by SandboxID: requests bound to it that wait
	at     []place     // by RequestID: where it waits
}

// place is a sandbox that a request is bound to; born 0 is none.
type place struct {
	box  policies.SandboxID
	born uint64
}

// New returns a scaler with queues of at most limit requests, Unlimited for no
// bound.
func New(limit int) (*Scaler, error) {
	if limit < Unlimited {
		return nil, errors.New("make queue-length: L must be 0 or more, or unlimited")
	}
	return &Scaler{limit: limit}, nil
}

// Blocked binds the request to the queue with the shortest wait that has
// room, or to a start.
func (s *Scaler) Blocked(v policies.View, r policies.Request) (policies.Verdict, policies.Outcome) {
	for int(r.ID) >= len(s.at) {
		s.at = append(s.at, place{})
	}
	s.at[r.ID] = place{} // it may be asked about again after its sandbox ended
	id, k, ok := s.busy.Min(int32(r.Fn))
	if !ok || (s.limit != Unlimited && k.B >= int64(s.limit)) {
		return policies.Verdict{Start: 1, Bind: policies.ToStart}, nil
	}
	b := v.Sandbox(policies.SandboxID(id))
	s.at[r.ID] = place{b.ID, b.Born}
	s.queued[b.ID]++
	s.key(b)
	return policies.Verdict{Bind: policies.ToSandbox, Sandbox: b.ID}, nil
}

// Recheck wants nothing: what waits is bound.
func (s *Scaler) Recheck(policies.View, policies.FuncID) policies.Verdict {
	return policies.Verdict{}
}

// key orders a busy sandbox by the wait behind it.
func (s *Scaler) key(b *policies.Sandbox) {
	s.busy.Set(int32(b.Fn), int32(b.ID), heap.Key{B: int64(s.queued[b.ID]), C: uint64(b.BusySince)})
}

// Observe follows which sandboxes are busy and who left their queues.
func (s *Scaler) Observe(v policies.View, f policies.Fact) {
	switch f.Kind {
	case policies.FactStarted:
		for int(f.Sandbox) >= len(s.queued) {
			s.queued = append(s.queued, 0)
		}
		s.queued[f.Sandbox] = 0
	case policies.FactUsed:
		s.left(v, f.Req)
		s.key(v.Sandbox(f.Sandbox))
	case policies.FactIdle, policies.FactGone:
		s.busy.Remove(int32(f.Fn), int32(f.Sandbox))
	case policies.FactDropped:
		s.left(v, f.Req)
	case policies.FactArrived, policies.FactReady, policies.FactFinished, policies.FactEvicted:
	}
}

// left takes a request out of the queue that it waits in.
func (s *Scaler) left(v policies.View, id policies.RequestID) {
	if int(id) >= len(s.at) || s.at[id].born == 0 {
		return
	}
	p := s.at[id]
	s.at[id] = place{}
	b := v.Sandbox(p.box)
	if b.Born != p.born || s.queued[p.box] == 0 {
		return
	}
	s.queued[p.box]--
	if s.busy.Has(int32(p.box)) {
		s.key(b)
	}
}
