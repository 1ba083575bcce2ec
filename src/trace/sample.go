package trace

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Sample draws n functions without replacement, each alike, and keeps their
// order. It fails when there are fewer, or n is not positive.
func Sample(functions []Function, n int, seed uint64) ([]Function, error) {
	if n < 1 || n > len(functions) {
		return nil, fmt.Errorf("sample %d functions: the trace has %d", n, len(functions))
	}
	chosen := rand.New(rand.NewPCG(seed, 0x5a)).Perm(len(functions))[:n]
	slices.Sort(chosen)
	out := make([]Function, n)
	for i, k := range chosen {
		out[i] = functions[k]
	}
	return out, nil
}
