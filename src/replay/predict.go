package replay

import (
	"context"
	"fmt"
	"math"
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
	Init          time.Duration `json:"init_ns"`          // expected initialisation of all starts together
	PeakMB        int64         `json:"peak_mb"`          // most memory charged at once
	OverheadMean  time.Duration `json:"overhead_mean_ns"` // of the requests that ran
	OverheadRatio float64       `json:"overhead_ratio"`   // mean of wait / (wait + exec), 0 to 1
	Overhead      Distribution  `json:"overhead"`         // waits of the requests that ran
	PerNode       []int         `json:"per_node"`         // requests of each node
}

// Node is the worker that a prediction is made for, or a cluster of such.
type Node struct {
	PoolMB     int64
	StartSlots int           // starts in progress at most; 0 is no limit
	StarveMin  time.Duration // see engine.Config
	Overhead   time.Duration // what a start costs beside the lambda's initialisation
	Policy     func() (catalog.Policy, error)

	// Nodes are the names of the workers of a cluster, over which the placer
	// spreads requests as in a boss; none is a worker without one.
	Nodes  []string
	Placer policies.Placer
}

// placer is how the simulator spreads requests.
func (n *Node) placer(w Workload) policies.Placer {
	if len(n.Nodes) < 2 {
		return nil
	}
	return asBoss(n.Placer, n.Nodes, w.Lambdas)
}

// traced is the workload as the simulator takes it. A cold start costs the
// overhead besides. The simulator spreads all of a start, so the sigma is made
// less by the part that does not vary: exact at the median, to first order
// around it.
func traced(w Workload, overhead time.Duration) ([]trace.Profile, trace.Workload) {
	profiles := make([]trace.Profile, len(w.Lambdas))
	for i, l := range w.Lambdas {
		profiles[i] = trace.Profile{Name: l.Name, MB: l.MemMB, Cold: l.Init + overhead}
		if l.InitSigma > 0 {
			profiles[i].ColdSigma = l.InitSigma * float64(l.Init) / float64(max(l.Init+overhead, 1))
		}
	}
	invocations := make([]trace.Invocation, len(w.Requests))
	for i, q := range w.Requests {
		invocations[i] = trace.Invocation{At: q.At, Function: q.Lambda, Exec: q.Exec}
	}
	return profiles, trace.FromSlice("replay", 0, profiles, invocations)
}

// expected is the mean time of a start.
func expected(p *trace.Profile) time.Duration {
	return time.Duration(float64(p.Cold) * math.Exp(p.ColdSigma*p.ColdSigma/2))
}

// Predict simulates the workload on empty nodes, and draws starts that vary as
// the lambdas do, with other numbers. Destroying takes no time.
func Predict(ctx context.Context, n Node, w Workload) (Prediction, error) {
	profiles, workload := traced(w, n.Overhead)
	p := Prediction{PerNode: make([]int, max(len(n.Nodes), 1))}
	var waits []time.Duration
	r, err := sim.Run(ctx, sim.Config{
		Workload: workload, Nodes: len(p.PerNode), Placer: n.placer(w), PoolMB: n.PoolMB,
		Policy:     func(policies.Oracle) (catalog.Policy, error) { return n.Policy() },
		StartSlots: n.StartSlots, StarveMin: n.StarveMin,
		Watch: func(_ policies.Time, _ int, a *engine.Action) {
			if a.Kind == engine.ActStart {
				p.Init += expected(&profiles[a.Fn])
			}
		},
		Records: func(q *sim.Record) error {
			p.PerNode[q.Node]++
			if q.Rejected == engine.ReasonNone {
				waits = append(waits, q.Wait)
			}
			return nil
		},
	})
	if err != nil {
		return Prediction{}, fmt.Errorf("predict workload: %w", err)
	}
	if r.Waiting > 0 {
		return Prediction{}, fmt.Errorf("predict workload: %d requests are never answered", r.Waiting)
	}
	p.Overhead = Describe(waits)
	p.take(r)
	return p, nil
}

// take takes over what the simulator counted.
func (p *Prediction) take(r *sim.Result) {
	p.Span = time.Duration(r.Seconds * float64(time.Second))
	p.Requests, p.Cold, p.Delayed, p.Warm, p.Rejected = int(r.Arrived), int(r.Cold), int(r.Delayed), int(r.Warm), int(r.Rejected)
	p.Starts, p.PeakMB = int(r.Starts), r.PeakMB
	p.OverheadMean = time.Duration(r.Wait.Mean * float64(time.Millisecond))
	p.OverheadRatio = r.Overhead
}
