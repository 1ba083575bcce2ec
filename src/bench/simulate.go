package bench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/trace"
)

// Simulation is how fast the simulator is on the shipped S2 with the paper's
// memory per request, at 100 GB. Nothing of it runs in parallel.
type Simulation struct {
	Requests int64         // of the pass that counts
	Prepare  time.Duration // read, expand and sort the trace
	Measured time.Duration // the pass that counts
	Whole    time.Duration // with the warm-up pass before it
	Overhead float64       // ratio, so that a reader sees what was simulated
}

// Rate is requests of the pass that counts per second.
func (s Simulation) Rate() float64 { return float64(s.Requests) / s.Measured.Seconds() }

const simulatedPoolMB = 100_000

// simulated returns S2 as rows with its options.
func simulated(sigma float64) ([]trace.Function, trace.Options, trace.Model, error) {
	functions, err := trace.Folded()
	m := trace.DefaultModel()
	m.MemScale = trace.PaperMemScale
	return functions, trace.Options{Sigma: sigma, MaxExec: trace.PaperExecCap, Seed: 1}, m, err
}

func simulation(preset string, w trace.Workload) sim.Config {
	return sim.Config{
		Workload: w, Nodes: 1, PoolMB: simulatedPoolMB, Warmup: true,
		Policy: func(o policies.Oracle) (catalog.Policy, error) {
			return catalog.New(preset, "", "", catalog.Params{Oracle: o})
		},
	}
}

// Simulate measures a run with the trace in memory. Sigma is the unevenness of
// the seconds inside a minute.
func Simulate(ctx context.Context, preset string, sigma float64) (Simulation, error) {
	var s Simulation
	begin := time.Now()
	functions, o, m, err := simulated(sigma)
	if err != nil {
		return s, err
	}
	all, err := trace.Expand(functions, o)
	if err != nil {
		return s, err
	}
	s.Prepare = time.Since(begin)
	span := time.Duration(len(functions[0].PerMinute)) * time.Minute
	cfg := simulation(preset, trace.FromSlice("s2", span, m.Profiles(functions), all))
	var measured time.Time
	cfg.Measured = func() { measured = time.Now() }
	begin = time.Now()
	res, err := sim.Run(ctx, cfg)
	if err != nil {
		return s, fmt.Errorf("simulate s2: %w", err)
	}
	s.Measured, s.Whole = time.Since(measured), time.Since(begin)
	s.Requests, s.Overhead = res.Arrived, res.Overhead
	return s, nil
}

// Growth is what a run costs whose trace is longer.
type Growth struct {
	Requests int64
	Elapsed  time.Duration // for so many requests, after one S2 that filled caches and windows
	PeakMB   float64       // of the heap, after collecting garbage, at regular points of the run
}

// SimulateLong streams S2 once to fill caches and windows, and then the given
// number of times in a row.
func SimulateLong(ctx context.Context, preset string, times int) (Growth, error) {
	w, err := longTrace(times + 1)
	if err != nil {
		return Growth{}, err
	}
	cfg := simulation(preset, w)
	cfg.Warmup = false
	var begin time.Time
	var skipped int64
	cfg.Progress = func(arrived int64) {
		if begin.IsZero() && arrived >= trace.FoldedRequests {
			begin, skipped = time.Now(), arrived
		}
	}
	res, err := sim.Run(ctx, cfg)
	if err != nil {
		return Growth{}, fmt.Errorf("simulate s2 %d times: %w", times+1, err)
	}
	g := Growth{Requests: int64(times) * trace.FoldedRequests}
	// Progress comes a little late: what it missed counts at the same rate.
	g.Elapsed = time.Duration(float64(time.Since(begin)) * float64(g.Requests) / float64(res.Arrived-skipped))
	g.PeakMB, err = peakHeap(ctx, cfg, res.Arrived)
	return g, err
}

func longTrace(times int) (trace.Workload, error) {
	functions, o, m, err := simulated(0)
	if err != nil {
		return trace.Workload{}, err
	}
	w, err := trace.PerMinute("s2", functions, o, m)
	if err != nil {
		return w, err
	}
	return trace.Repeat(w, times)
}

// peakHeap runs once more and looks at the heap about ten times. Looking
// collects garbage, so it is not for the run that is timed.
func peakHeap(ctx context.Context, cfg sim.Config, requests int64) (float64, error) {
	peak, next := uint64(0), requests/heapLooks
	cfg.Progress = func(arrived int64) {
		if arrived < next {
			return
		}
		next += requests / heapLooks
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapAlloc)
	}
	if _, err := sim.Run(ctx, cfg); err != nil {
		return 0, fmt.Errorf("simulate for memory: %w", err)
	}
	return float64(peak) / (1 << 20), nil
}

const heapLooks = 10
