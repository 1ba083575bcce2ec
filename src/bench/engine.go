package bench

import (
	"runtime"
	"time"

	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginebench"
)

// Decision is how long the engine takes to decide.
type Decision struct {
	Times  Times
	Allocs float64 // allocations per decision
}

const (
	fleetFunctions = 1000 // that the bars speak of
	batch          = 64   // steps between two readings of the clock
	between        = 32   // steps between two evictions, so that neither caches nor orders are fresh
)

func newFleet(preset string, sandboxes int) (*enginebench.Fleet, error) {
	parts, err := catalog.New(preset, "", "", catalog.Params{TTL: 1000 * time.Hour})
	if err != nil {
		return nil, err
	}
	return enginebench.NewFleet(engine.Config{Scaler: parts.Scaler, Evictor: parts.Evictor, Picker: parts.Picker}, fleetFunctions, sandboxes)
}

// EngineStep measures one step of the engine with 1,000 functions and 10,000
// idle sandboxes, arrivals and ends of warm requests in turn. Before it
// measures it makes settle steps, so that what the policy remembers of each
// function has its full size.
func EngineStep(preset string, settle, batches int) (Decision, error) {
	f, err := newFleet(preset, 10*fleetFunctions)
	if err != nil {
		return Decision{}, err
	}
	for range settle {
		f.Step()
	}
	times := make([]time.Duration, 0, batches)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range batches {
		begin := time.Now()
		for range batch {
			f.Step()
		}
		times = append(times, time.Since(begin)/batch)
	}
	runtime.ReadMemStats(&after)
	return Decision{Describe(times), float64(after.Mallocs-before.Mallocs) / float64(batches*batch)}, f.Err()
}

// EngineEvict measures a step that has to choose a victim among idle
// sandboxes of 1,000 functions, after requests that were served warm.
func EngineEvict(preset string, idle, decisions int) (Times, error) {
	f, err := newFleet(preset, idle)
	if err != nil {
		return Times{}, err
	}
	times := make([]time.Duration, 0, decisions)
	for range decisions {
		for range between {
			f.Step()
		}
		begin := time.Now()
		f.Evict()
		times = append(times, time.Since(begin))
		f.Restore()
	}
	return Describe(times), f.Err()
}
