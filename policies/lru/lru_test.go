package lru_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/lru"
)

// world is the sandboxes alone: LRU asks for nothing else.
type world struct {
	policies.View
	boxes []policies.Sandbox
}

func (w *world) Sandbox(id policies.SandboxID) *policies.Sandbox { return &w.boxes[id] }

// TestOrder: by last use, then by age, whatever comes and goes in between.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var e lru.LRU
	w := &world{}
	idle := map[policies.SandboxID]bool{}
	oldest := func() policies.SandboxID {
		var list []policies.Sandbox
		for id := range idle {
			list = append(list, w.boxes[id])
		}
		return slices.MinFunc(list, func(a, b policies.Sandbox) int {
			return cmp.Or(cmp.Compare(a.LastUse, b.LastUse), cmp.Compare(a.Born, b.Born))
		}).ID
	}
	for i := range 5000 {
		if len(idle) > 0 && r.IntN(5) < 2 {
			want := oldest()
			id, ok := e.Next(w, policies.Start{})
			if !ok || id != want {
				t.Fatalf("step %d: Next = %d, %v, want %d", i, id, ok, want)
			}
			e.Remove(w, id)
			delete(idle, id)
			continue
		}
		id := policies.SandboxID(r.IntN(len(w.boxes) + 1))
		if int(id) == len(w.boxes) {
			w.boxes = append(w.boxes, policies.Sandbox{ID: id, Born: uint64(id) + 1})
		}
		if idle[id] {
			e.Remove(w, id)
			delete(idle, id)
			continue
		}
		w.boxes[id].LastUse = policies.Time(i / 4) // ties
		e.Insert(w, id)
		idle[id] = true
	}
}

func TestEmpty(t *testing.T) {
	var e lru.LRU
	if id, ok := e.Next(nil, policies.Start{}); ok {
		t.Errorf("Next = %d of nothing", id)
	}
	if id, _, at := e.Expire(nil); id != policies.NoSandbox || at != policies.Never {
		t.Errorf("Expire = %d at %d, want nothing, never", id, at)
	}
}
