package engine_test

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
	"github.com/open-lambda/open-lambda/policies/lru"
)

// A full node that drops evicts as much as the start needs, whatever was free
// before, keeps what it evicted evicted, and evicts nothing if all is busy.
func TestDropFull(t *testing.T) {
	mb := func(n int64) enginetest.Fn {
		return enginetest.Fn{Spec: policies.Spec{MB: n, ColdEst: time.Second}, Cold: time.Second}
	}
	tests := map[string]struct {
		busy    [2]bool // whether the sandboxes of 40 MB run when the start comes
		size    int64   // of the start, in a pool of 100
		dropped bool
		live    [2]int // sandboxes left of the two
	}{
		"as much as it needs, not what is missing": {[2]bool{false, false}, 50, false, [2]int{0, 0}},
		"fits beside":                      {[2]bool{false, false}, 20, false, [2]int{1, 1}},
		"all busy: nothing is evicted":     {[2]bool{true, true}, 50, true, [2]int{1, 1}},
		"not enough: the eviction stands":  {[2]bool{false, true}, 70, true, [2]int{0, 1}},
		"one victim is enough for a start": {[2]bool{false, true}, 40, false, [2]int{0, 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := enginetest.New(t, engine.Config{PoolMB: 100, DropFull: true, Scaler: coldstart.Scaler{}, Evictor: &lru.LRU{}},
				mb(40), mb(40), mb(tt.size))
			for i, busy := range tt.busy {
				exec := time.Second
				if busy {
					exec = time.Hour
				}
				h.Arrive(time.Duration(i)*time.Millisecond, policies.FuncID(i), exec)
			}
			last := h.Arrive(10*time.Second, 2, time.Second)
			h.Run(10 * time.Second)
			for i, want := range tt.live {
				if got := h.E.Func(policies.FuncID(i)).Live; got != want {
					t.Errorf("function %d has %d sandboxes, want %d", i, got, want)
				}
			}
			h.Run(20 * time.Second)
			r := h.Results[last]
			if got := r.Rejected == engine.ReasonFull; got != tt.dropped || r.Done == tt.dropped {
				t.Errorf("%+v, want dropped %v", r, tt.dropped)
			}
		})
	}
}
