package trace

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Sample draws n functions without replacement, each alike, and keeps their
// order. It fails when there are fewer, or n is not positive.
func Sample(functions []Function, n int, seed uint64) ([]Function, error) {
	chosen, err := choose(len(functions), n, seed)
	if err != nil {
		return nil, err
	}
	out := make([]Function, n)
	for i, k := range chosen {
		out[i] = functions[k]
	}
	return out, nil
}

// choose chooses n of so many, in order.
func choose(of, n int, seed uint64) ([]int, error) {
	if n < 1 || n > of {
		return nil, fmt.Errorf("sample %d functions: the trace has %d", n, of)
	}
	chosen := rand.New(rand.NewPCG(seed, 0x5a)).Perm(of)[:n]
	slices.Sort(chosen)
	return chosen, nil
}

// SampleWorkload is Sample for workloads that have no per-minute rows. It reads
// the workload into memory.
func SampleWorkload(w Workload, n int, seed uint64) (Workload, error) {
	functions, all, err := Collect(w)
	if err != nil {
		return Workload{}, err
	}
	chosen, err := choose(len(functions), n, seed)
	if err != nil {
		return Workload{}, err
	}
	index := make(map[int]int, n)
	profiles := make([]Profile, n)
	for i, k := range chosen {
		index[k], profiles[i] = i, functions[k]
	}
	var kept []Invocation
	for _, inv := range all {
		if i, ok := index[inv.Function]; ok {
			inv.Function = i
			kept = append(kept, inv)
		}
	}
	out := FromSlice(w.Name, w.Span, profiles, kept)
	out.Note = w.Note
	return out, nil
}
