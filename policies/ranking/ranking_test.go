package ranking

import (
	"math/rand/v2"
	"testing"

	"github.com/open-lambda/open-lambda/policies"
)

func TestMinIsWhatAScanFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var r Ranking
	score := make([]float64, 6)
	held := map[policies.SandboxID]*policies.Sandbox{}
	for step := range 5000 {
		id := policies.SandboxID(rng.IntN(40))
		switch b := held[id]; {
		case rng.IntN(3) == 0:
			fn := rng.IntN(len(score))
			score[fn] = float64(rng.IntN(4))
			r.Score(policies.FuncID(fn), score[fn])
		case b != nil:
			r.Remove(b)
			delete(held, id)
		default:
			b := &policies.Sandbox{ID: id, Fn: policies.FuncID(rng.IntN(len(score))), LastUse: policies.Time(rng.IntN(5)), Born: uint64(step)}
			r.Insert(b)
			held[id] = b
		}
		got, ok := r.Min()
		want := scan(held, score)
		if ok != (want != nil) || (ok && got != want.ID) {
			t.Fatalf("step %d: got %v %v, want %+v", step, got, ok, want)
		}
	}
}

func scan(held map[policies.SandboxID]*policies.Sandbox, score []float64) *policies.Sandbox {
	var best *policies.Sandbox
	for _, b := range held {
		if best == nil || before(b, best, score) {
			best = b
		}
	}
	return best
}

func before(a, b *policies.Sandbox, score []float64) bool {
	switch {
	case score[a.Fn] != score[b.Fn]:
		return score[a.Fn] < score[b.Fn]
	case a.LastUse != b.LastUse:
		return a.LastUse < b.LastUse
	}
	return a.Born < b.Born
}
