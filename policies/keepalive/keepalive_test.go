package keepalive

import (
	"testing"

	"github.com/open-lambda/open-lambda/policies"
)

// world is a View of a few sandboxes of one function.
type world struct {
	now   policies.Time
	fn    policies.Func
	boxes []policies.Sandbox
}

func (w *world) Now() policies.Time                              { return w.now }
func (w *world) Node() *policies.Node                            { return &policies.Node{} }
func (w *world) Func(policies.FuncID) *policies.Func             { return &w.fn }
func (w *world) Sandbox(id policies.SandboxID) *policies.Sandbox { return &w.boxes[id] }

func fill(w *world, s *Set, due ...policies.Time) {
	for i, d := range due {
		w.boxes = append(w.boxes, policies.Sandbox{ID: policies.SandboxID(i), Born: uint64(i + 1), LastUse: policies.Time(10 - i)})
		s.Insert(&w.boxes[i], d)
	}
}

func TestDueInOrder(t *testing.T) {
	w, s := &world{now: 5}, &Set{}
	fill(w, s, 20, 10, policies.Never)
	if id, next := s.Due(w, nil); id != policies.NoSandbox || next != 10 {
		t.Errorf("at 5: %v %v, want nobody until 10", id, next)
	}
	w.now = 10
	if id, _ := s.Due(w, nil); id != 1 {
		t.Errorf("at 10: %v, want 1", id)
	}
	s.Remove(1)
	if id, next := s.Due(w, nil); id != policies.NoSandbox || next != 20 {
		t.Errorf("at 10: %v %v, want nobody until 20", id, next)
	}
	s.Remove(0)
	w.now = 100
	if id, next := s.Due(w, nil); id != policies.NoSandbox || next != policies.Never {
		t.Errorf("at 100: %v %v, want nobody ever", id, next)
	}
	if id, ok := s.Oldest(); !ok || id != 2 {
		t.Errorf("oldest %v, want 2: pressure takes what does not expire", id)
	}
}

func TestWishesPostponeExpiryOnly(t *testing.T) {
	w, s := &world{now: 10}, &Set{}
	fill(w, s, 10, 10)
	w.fn.KeepUntil = 30
	if id, next := s.Due(w, nil); id != policies.NoSandbox || next != 30 {
		t.Errorf("got %v %v, want nobody until 30", id, next)
	}
	if id, _ := s.Oldest(); id != 1 {
		t.Errorf("oldest %v, want 1", id)
	}
	w.now, w.fn.KeepUntil = 30, policies.Never
	keep0 := func(b *policies.Sandbox) policies.Time {
		if b.ID == 0 {
			return 40
		}
		return policies.Never
	}
	if id, _ := s.Due(w, keep0); id != 1 {
		t.Errorf("got %v, want 1: the first was extended", id)
	}
}
