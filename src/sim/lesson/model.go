package lesson

import (
	"context"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/firstcreated"
	"github.com/open-lambda/open-lambda/policies/ttl"
	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/trace"
)

// Setup is one run of the model.
type Setup struct {
	Profile  Profile
	Lifetime time.Duration // of a free instance, under the lesson's own policy
	Cold     time.Duration // what a cold call takes longer
	Exec     time.Duration // what any call takes
	Prewarm  int
	// Policy replaces the lesson's own; nil keeps it.
	Policy func(policies.Oracle) (catalog.Policy, error)
	Future bool // see sim.Config.Future
}

// The model's constants.
const (
	DefaultLifetime = 300 * time.Second
	DefaultCold     = 900 * time.Millisecond
	DefaultExec     = 400 * time.Millisecond
	MaxInstances    = 40

	costPerCall    = 0.0005
	costPerBusyMS  = 0.0000025
	costPerWarmSec = 0.0002 // of a pre-warmed instance
)

// Default returns the setup of the first table for a profile.
func Default(p Profile) Setup {
	return Setup{Profile: p, Lifetime: DefaultLifetime, Cold: DefaultCold, Exec: DefaultExec}
}

// Outcome is what came of a run, not rounded.
type Outcome struct {
	Calls, Cold, Queued int
	ColdPct             float64
	MeanMS, P99MS       float64 // latency: wait and service
	LongestWaitMS       float64 // of the queued
	Most                int     // instances at once
	IdleSeconds         float64 // over all instances
	Cost                float64
}

// Run plays a setup.
func Run(ctx context.Context, s Setup) (Outcome, error) {
	c := &count{setup: s}
	function := []trace.Profile{{Name: s.Profile.Name, MB: 1, Cold: s.Cold}}
	policy := s.Policy
	if policy == nil {
		policy = s.policy
	}
	_, err := sim.Run(ctx, sim.Config{
		Workload: trace.FromSlice("lesson", Window, function, s.Profile.calls(s.Exec)),
		Nodes:    1, PoolMB: 10 * MaxInstances, Policy: policy, Future: s.Future, MinReady: true,
		Spec: func(p trace.Profile) policies.Spec {
			return policies.Spec{Revision: 1, MB: p.MB, Slots: 1, Min: s.Prewarm, Max: MaxInstances, ColdEst: p.Cold}
		},
		Watch: c.watch, Records: c.record,
	})
	if err != nil {
		return Outcome{}, err
	}
	return c.outcome(), nil
}

// policy is the lesson's own: keep-alive, one start per blocked call, first
// created first.
func (s Setup) policy(policies.Oracle) (catalog.Policy, error) {
	keep, err := ttl.New(max(s.Lifetime, 1), ttl.Idle) // 1 ns is no time at all here
	return catalog.Policy{Name: "lesson", Scaler: coldstart.Scaler{}, Evictor: keep, Picker: firstcreated.Picker{}}, err
}

// count watches a run.
type count struct {
	setup     Setup
	alive     []instance // by SandboxID
	now, most int
	busy      time.Duration
	idle      time.Duration
	latency   []time.Duration
	sum       time.Duration
	cold      int
	queued    int
	longest   time.Duration
}

// instance is an instance from its creation on.
type instance struct {
	exists     bool
	born, busy time.Duration
}

func (c *count) watch(now policies.Time, _ int, a *engine.Action) {
	t := time.Duration(now - 1)
	switch a.Kind {
	case engine.ActStart:
		c.start(a.Sandbox, t)
	case engine.ActRun:
		i := &c.alive[a.Sandbox]
		i.busy += c.setup.Exec
	case engine.ActDestroy:
		c.end(&c.alive[a.Sandbox], t)
	case engine.ActReshape, engine.ActReject:
	}
}

func (c *count) start(id policies.SandboxID, t time.Duration) {
	for int(id) >= len(c.alive) {
		c.alive = append(c.alive, instance{})
	}
	i := instance{exists: true, born: t}
	if t != 0 || c.now >= c.setup.Prewarm { // else it was there before
		i.busy = c.setup.Cold
	}
	c.alive[id] = i
	c.now++
	c.most = max(c.most, c.now)
}

// end accounts for an instance that is reclaimed, or is left at the end.
func (c *count) end(i *instance, at time.Duration) {
	if !i.exists {
		return
	}
	c.idle += max(0, min(at, Window)-i.born-i.busy)
	c.busy += i.busy
	i.exists = false
	c.now--
}

func (c *count) record(r *sim.Record) error {
	c.latency = append(c.latency, r.Wait+r.Exec)
	c.sum += r.Wait + r.Exec
	switch r.Kind {
	case policies.Cold:
		c.cold++
	case policies.Delayed:
		c.queued++
		c.longest = max(c.longest, r.Wait)
	case policies.Warm:
	}
	return nil
}

func (c *count) outcome() Outcome {
	for i := range c.alive {
		c.end(&c.alive[i], Window)
	}
	n := len(c.latency)
	slices.Sort(c.latency)
	o := Outcome{
		Calls: n, Cold: c.cold, Queued: c.queued, ColdPct: 100 * float64(c.cold) / float64(n),
		MeanMS: millis(c.sum) / float64(n), P99MS: millis(c.latency[int(0.99*float64(n))]),
		LongestWaitMS: millis(c.longest), Most: c.most, IdleSeconds: c.idle.Seconds(),
	}
	o.Cost = float64(n)*costPerCall + millis(c.busy)*costPerBusyMS + float64(c.setup.Prewarm)*Window.Seconds()*costPerWarmSec
	return o
}
