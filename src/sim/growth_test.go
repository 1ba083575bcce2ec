package sim

import "testing"

// Once its tables have grown, a run allocates nothing per request, so memory
// does not grow with the length of the trace.
func TestNothingIsAllocatedPerRequest(t *testing.T) {
	for _, policy := range []string{"cidre", "lru", "cidre+"} {
		allocs := func(requests int) float64 {
			cfg := config(policy, random(1, requests))
			cfg.Warmup, cfg.PoolMB = false, 5000 // enough that the queue does not grow without end
			return testing.AllocsPerRun(1, func() { mustRun(t, cfg) })
		}
		few, many := allocs(10_000), allocs(40_000)
		if grown := many - few; grown > 0.05*30_000 {
			t.Errorf("%s: 30,000 more requests cost %v more allocations", policy, grown)
		}
	}
}
