package enginebench_test

import (
	"slices"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginebench"
)

func newFleet(t testing.TB, preset string, funcs, sandboxes int) *enginebench.Fleet {
	t.Helper()
	p, err := catalog.New(preset, "", "", catalog.Params{TTL: 10000 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	f, err := enginebench.NewFleet(engine.Config{Scaler: p.Scaler, Evictor: p.Evictor}, funcs, sandboxes)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// lasting lists the presets under which a fleet stays as it is unless memory
// is short: the others start and destroy by themselves, or know the future.
func lasting(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(catalog.Names(""), func(name string) bool {
		if e, _ := catalog.Find(name); slices.Contains(e.Caps, catalog.CapOracle) {
			return true
		}
		p, err := catalog.New(name, "", "", catalog.Params{})
		if err != nil {
			t.Fatal(err)
		}
		return p.Prewarmer != nil
	})
}

// TestFleetHolds: Steps stay warm and every eviction can be made good, under
// each preset.
func TestFleetHolds(t *testing.T) {
	for _, preset := range lasting(t) {
		t.Run(preset, func(t *testing.T) {
			f := newFleet(t, preset, 130, 400)
			for range 300 {
				for range 7 {
					f.Step()
				}
				f.Evict()
				f.Restore()
			}
			if err := f.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStepsAllocateNothing: not on the hot path, and not to find a victim.
func TestStepsAllocateNothing(t *testing.T) {
	for _, preset := range lasting(t) {
		f := newFleet(t, preset, 130, 400)
		if n := testing.AllocsPerRun(2000, f.Step); n != 0 {
			t.Errorf("%s: a warm Step allocates %v times", preset, n)
		}
		for range 1000 { // until the windows of most functions have grown
			f.Evict()
			f.Restore()
		}
		if n := testing.AllocsPerRun(200, func() { f.Evict(); f.Restore() }); n > 1 {
			t.Errorf("%s: an eviction with all that follows allocates %v times", preset, n)
		}
		if err := f.Err(); err != nil {
			t.Error(err)
		}
	}
}

func TestNewFleetRefuses(t *testing.T) {
	p, err := catalog.New("", "", "", catalog.Params{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := engine.Config{Scaler: p.Scaler, Evictor: p.Evictor}
	for _, n := range [][2]int{{0, 0}, {10, 100}, {1000, 10}} {
		if _, err := enginebench.NewFleet(cfg, n[0], n[1]); err == nil {
			t.Errorf("NewFleet took %d functions and %d sandboxes", n[0], n[1])
		}
	}
	if _, err := enginebench.NewFleet(engine.Config{}, 200, 200); err == nil {
		t.Error("NewFleet took a configuration without policies")
	}
}
