package heap

import (
	"testing"

	"pgregory.net/rapid"
)

func TestHeapAgainstScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Heap
		model := map[int32]Key{}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			id := rapid.Int32Range(0, 20).Draw(t, "id")
			if rapid.IntRange(0, 2).Draw(t, "op") == 0 {
				h.Remove(id)
				delete(model, id)
			} else {
				k := Key{A: float64(rapid.IntRange(0, 3).Draw(t, "a")), B: int64(rapid.IntRange(0, 2).Draw(t, "b"))}
				h.Set(id, k)
				model[id] = k
			}
			if h.Len() != len(model) {
				t.Fatalf("%d ids held, want %d", h.Len(), len(model))
			}
			got, _, ok := h.Min()
			if ok != (len(model) > 0) {
				t.Fatalf("Min ok %v with %d ids", ok, len(model))
			}
			for id, k := range model {
				if !h.Has(id) || h.Key(id) != k {
					t.Fatalf("id %d lost its key", id)
				}
				if k.Less(model[got]) || (k == model[got] && id < got) {
					t.Fatalf("Min is %d %v, but %d has %v", got, model[got], id, k)
				}
			}
		}
	})
}

func TestDescendVisitsAllBelowTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Heap
		keys := rapid.SliceOfN(rapid.IntRange(0, 50), 1, 60).Draw(t, "keys")
		for i, k := range keys {
			h.Set(int32(i), Key{A: float64(k)})
		}
		limit := rapid.IntRange(0, 50).Draw(t, "limit")
		seen := map[int32]bool{}
		h.Descend(float64(limit), func(id int32) float64 {
			if seen[id] {
				t.Fatalf("id %d visited twice", id)
			}
			seen[id] = true
			return float64(limit)
		})
		for i, k := range keys {
			if seen[int32(i)] != (k <= limit) {
				t.Fatalf("id %d with key %d, limit %d: visited %v", i, k, limit, seen[int32(i)])
			}
		}
	})
}
