package engine_test

import (
	"slices"
	"testing"

	"github.com/open-lambda/open-lambda/policies/catalog"
)

// TestSameEventsGiveSameActions runs each preset on the same events 20 times:
// no decision comes from map iteration, the clock or chance.
func TestSameEventsGiveSameActions(t *testing.T) {
	for _, e := range catalog.Entries() {
		if e.Kind != "preset" || slices.Contains(e.Caps, catalog.CapOracle) {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			for seed := range uint64(3) {
				w := newWorkload(1000+seed, e.Scaler, e.Evictor)
				first := w.run(w.newEngine(t))
				if len(first) == 0 {
					t.Fatal("no actions")
				}
				for range 19 {
					if again := w.run(w.newEngine(t)); !slices.Equal(first, again) {
						compareLogs(t, int(seed), again, first)
					}
				}
			}
		})
	}
}
