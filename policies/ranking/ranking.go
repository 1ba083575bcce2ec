package ranking

import (
	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/heap"
)

// Ranking holds idle sandboxes. The zero value is ready; a function without a
// score has the score 0.
type Ranking struct {
	idle  heap.Forest // tree FuncID: its idle sandboxes
	order heap.Heap   // functions with idle sandboxes
	score []float64   // by FuncID
}

// Insert adds an idle sandbox.
func (r *Ranking) Insert(b *policies.Sandbox) {
	r.idle.Set(int32(b.Fn), int32(b.ID), heap.Key{B: int64(b.LastUse), C: b.Born})
	r.rekey(b.Fn)
}

// Remove takes one out. It does nothing for one that is not held.
func (r *Ranking) Remove(b *policies.Sandbox) {
	if !r.idle.Has(int32(b.ID)) {
		return
	}
	r.idle.Remove(int32(b.Fn), int32(b.ID))
	r.rekey(b.Fn)
}

// Score sets a function's score; the lowest goes first. It must not be NaN.
func (r *Ranking) Score(fn policies.FuncID, score float64) {
	for int(fn) >= len(r.score) {
		r.score = append(r.score, 0)
	}
	if r.score[fn] != score {
		r.score[fn] = score
		r.rekey(fn)
	}
}

// ScoreOf returns a function's score.
func (r *Ranking) ScoreOf(fn policies.FuncID) float64 {
	if int(fn) >= len(r.score) {
		return 0
	}
	return r.score[fn]
}

// Len returns how many idle sandboxes a function has.
func (r *Ranking) Len(fn policies.FuncID) int { return r.idle.Len(int32(fn)) }

// Min returns the least recently used sandbox of the function with the lowest
// score, false if there is none.
func (r *Ranking) Min() (policies.SandboxID, bool) {
	fn, _, ok := r.order.Min()
	if !ok {
		return policies.NoSandbox, false
	}
	id, _, _ := r.idle.Min(fn)
	return policies.SandboxID(id), true
}

func (r *Ranking) rekey(fn policies.FuncID) {
	_, k, ok := r.idle.Min(int32(fn))
	if !ok {
		r.order.Remove(int32(fn))
		return
	}
	k.A = r.ScoreOf(fn)
	r.order.Set(int32(fn), k)
}
