package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/trace"
)

// Prediction is what the engine does with a workload in virtual time.
type Prediction struct {
	Span          time.Duration `json:"span_ns"` // until the last request ended
	Requests      int           `json:"requests"`
	Cold          int           `json:"cold"`
	Delayed       int           `json:"delayed"`
	Warm          int           `json:"warm"`
	Rejected      int           `json:"rejected"`
	Starts        int           `json:"starts"`           // sandboxes made, those for nobody included
	Init          time.Duration `json:"init_ns"`          // initialisation of all starts together
	PeakMB        int64         `json:"peak_mb"`          // most memory charged at once
	OverheadMean  time.Duration `json:"overhead_mean_ns"` // of the requests that ran
	OverheadRatio float64       `json:"overhead_ratio"`   // mean of wait / (wait + exec), 0 to 1
}

// Node is the worker that a prediction is made for.
type Node struct {
	PoolMB     int64
	StartSlots int           // starts in progress at most; 0 is no limit
	StarveMin  time.Duration // see engine.Config
	Overhead   time.Duration // what a start costs beside the lambda's initialisation
	Policy     func() (catalog.Policy, error)
}

// Predict simulates the workload on an empty node. Destroying takes no time.
func Predict(ctx context.Context, n Node, w Workload) (Prediction, error) {
	profiles := make([]trace.Profile, len(w.Lambdas))
	for i, l := range w.Lambdas {
		profiles[i] = trace.Profile{Name: l.Name, MB: l.MemMB, Cold: l.Init + n.Overhead}
	}
	invocations := make([]trace.Invocation, len(w.Requests))
	for i, q := range w.Requests {
		invocations[i] = trace.Invocation{At: q.At, Function: q.Lambda, Exec: q.Exec}
	}
	var init time.Duration
	r, err := sim.Run(ctx, sim.Config{
		Workload: trace.FromSlice("replay", 0, profiles, invocations), Nodes: 1, PoolMB: n.PoolMB,
		Policy:     func(policies.Oracle) (catalog.Policy, error) { return n.Policy() },
		StartSlots: n.StartSlots, StarveMin: n.StarveMin,
		Watch: func(_ policies.Time, _ int, a *engine.Action) {
			if a.Kind == engine.ActStart {
				init += profiles[a.Fn].Cold
			}
		},
	})
	if err != nil {
		return Prediction{}, fmt.Errorf("predict workload: %w", err)
	}
	if r.Waiting > 0 {
		return Prediction{}, fmt.Errorf("predict workload: %d requests are never answered", r.Waiting)
	}
	return Prediction{
		Span:     time.Duration(r.Seconds * float64(time.Second)),
		Requests: int(r.Arrived), Cold: int(r.Cold), Delayed: int(r.Delayed), Warm: int(r.Warm), Rejected: int(r.Rejected),
		Starts: int(r.Starts), Init: init, PeakMB: r.PeakMB,
		OverheadMean:  time.Duration(r.Wait.Mean * float64(time.Millisecond)),
		OverheadRatio: r.Overhead,
	}, nil
}
