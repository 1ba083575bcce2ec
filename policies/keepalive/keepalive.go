package keepalive

import (
	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/heap"
)

// Set is idle sandboxes by last use and by end of life. The zero value is
// empty and ready.
type Set struct {
	use heap.Heap
	due heap.Heap
}

// Insert adds an idle sandbox whose time ends at due, Never if it does not end.
func (s *Set) Insert(b *policies.Sandbox, due policies.Time) {
	s.use.Set(int32(b.ID), heap.Key{B: int64(b.LastUse), C: b.Born})
	if due == policies.Never {
		s.due.Remove(int32(b.ID))
		return
	}
	s.due.Set(int32(b.ID), heap.Key{B: int64(due), C: b.Born})
}

// Remove takes one out. It does nothing for one that is not held.
func (s *Set) Remove(id policies.SandboxID) {
	s.use.Remove(int32(id))
	s.due.Remove(int32(id))
}

// Oldest returns the least recently used one, false if there is none.
func (s *Set) Oldest() (policies.SandboxID, bool) {
	id, _, ok := s.use.Min()
	return policies.SandboxID(id), ok
}

// Due returns a sandbox whose time has ended, or NoSandbox and the moment at
// which the next one ends. Before it names one it asks extend, if not nil:
// a moment later than now postpones its end to then.
func (s *Set) Due(v policies.View, extend func(*policies.Sandbox) policies.Time) (policies.SandboxID, policies.Time) {
	now := v.Now()
	for {
		id, k, ok := s.due.Min()
		switch {
		case !ok:
			return policies.NoSandbox, policies.Never
		case policies.Time(k.B) > now:
			return policies.NoSandbox, policies.Time(k.B)
		}
		b := v.Sandbox(policies.SandboxID(id))
		keep := v.Func(b.Fn).KeepUntil
		if extend != nil {
			keep = max(keep, extend(b))
		}
		if keep <= now {
			return b.ID, policies.Never
		}
		k.B = int64(keep)
		s.due.Set(id, k)
	}
}
