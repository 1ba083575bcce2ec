package engine_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestEngineMatchesReference runs hundreds of random workloads through the
// engine and through the naive reference: the same actions in the same order,
// with the same waits and kinds. OL_REFERENCE_RUNS sets how many for each pair
// of policies.
func TestEngineMatchesReference(t *testing.T) {
	runs := 40
	if n, err := strconv.Atoi(os.Getenv("OL_REFERENCE_RUNS")); err == nil {
		runs = n
	}
	// Those that the reference has: the product's own and their baselines.
	for _, scaler := range []string{"css", "css-literal", "bss", "coldstart"} {
		for _, victim := range []string{"cip", "faascache", "faascache-c", "lru", "ttl"} {
			t.Run(scaler+"/"+victim, func(t *testing.T) {
				for seed := range runs {
					w := newWorkload(uint64(seed), scaler, victim)
					compareLogs(t, seed, w.run(w.newEngine(t)), w.run(newRef(w.cfg)))
				}
			})
		}
	}
}

func compareLogs(t *testing.T, seed int, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i < len(got) && i < len(want) && got[i] == want[i] {
			continue
		}
		from := max(0, i-12)
		t.Fatalf("seed %d: action %d differs, after\n%s\nengine\n%s\nreference\n%s", seed, i,
			strings.Join(got[from:i], "\n"), strings.Join(window(got, i), "\n"), strings.Join(window(want, i), "\n"))
	}
}

func window(log []string, i int) []string { return log[min(i, len(log)):min(i+6, len(log))] }
