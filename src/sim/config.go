package sim

import (
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/trace"
)

// Config is one run.
type Config struct {
	Workload trace.Workload
	Warmup   bool // replay the workload once before the pass that counts

	Nodes  int   // at least 1
	PoolMB int64 // memory of each node, MB
	// Policy makes the policy of one node. It is called once per node; the
	// oracle is nil unless Future is set.
	Policy func(policies.Oracle) (catalog.Policy, error)
	// Placer chooses nodes; required if there are several.
	Placer policies.Placer
	// Future reads the whole workload into memory, for policies that know it.
	Future bool

	StartSlots int           // starts in progress per node; 0 is no limit
	StarveMin  time.Duration // see engine.Config; 0 switches it off, as in the paper
	QueueLimit int           // waiting requests per function and node; 0 is no limit
	DropFull   bool          // see engine.Config
	Destroy    time.Duration // from the decision to destroy a sandbox to its memory being free
	Faults     Faults
	Seed       uint64 // of faults

	Slots int // requests that a sandbox serves at a time; 0 means 1
	// Languages is the number of languages that functions are spread over by
	// their names, for policies that share a language's layer; 0 means that
	// functions share none.
	Languages int

	// Spec, if not nil, replaces the specification of a function,
	// for instance with Min and Max.
	Spec func(trace.Profile) policies.Spec
	// MinReady makes the sandboxes of Spec.Min that are started before the
	// first arrival ready at once, as if they had been there before.
	MinReady bool

	// Kill names sandboxes that die before a request of the function arrives.
	Kill func(policies.Time, policies.View, policies.FuncID) []policies.SandboxID

	// Hooks, all optional.
	Records  func(*Record) error                                 // each request of the counted pass when it ends
	Watch    func(now policies.Time, node int, a *engine.Action) // each action, warm-up included
	Event    func(now policies.Time, node int, e *engine.Event)  // each event before its actions
	Measured func()                                              // when the pass that counts begins
	Progress func(arrived int64)                                 // about every 10,000 arrivals, both passes
}

// Faults are drawn independently, with the probabilities given.
type Faults struct {
	StartHost   float64       // a start fails by the host's fault, half-way
	StartLambda float64       // a start fails by the lambda's fault, half-way
	Die         float64       // a sandbox dies while a request runs; the request has failed
	SlowDestroy float64       // a destroy takes SlowBy longer
	SlowBy      time.Duration // see SlowDestroy
}

// Check says which probability makes no sense.
func (f *Faults) Check() error {
	for _, p := range []float64{f.StartHost, f.StartLambda, f.Die, f.SlowDestroy} {
		if !(p >= 0 && p <= 1) { // NaN as well
			return fmt.Errorf("check faults: %v is no probability, from 0 to 1", p)
		}
	}
	if f.StartHost+f.StartLambda > 1 {
		return errors.New("check faults: StartHost and StartLambda exceed 1 together")
	}
	if f.SlowBy < 0 {
		return errors.New("check faults: SlowBy is negative")
	}
	return nil
}

func (c *Config) check() error {
	switch {
	case c.Workload.Open == nil:
		return errors.New("check simulation: Workload is missing")
	case c.Policy == nil:
		return errors.New("check simulation: Policy is missing")
	case c.Nodes < 1:
		return fmt.Errorf("check simulation: %d nodes, need at least 1", c.Nodes)
	case c.Nodes > 1 && c.Placer == nil:
		return errors.New("check simulation: several nodes need a Placer")
	case c.PoolMB < 1:
		return fmt.Errorf("check simulation: a pool of %d MB, need at least 1", c.PoolMB)
	case c.Destroy < 0 || c.Slots < 0 || c.Languages < 0:
		return errors.New("check simulation: Destroy, Slots and Languages must not be negative")
	}
	return c.Faults.Check()
}

// spec returns the engine's specification of a function.
func (c *Config) spec(p trace.Profile) policies.Spec {
	if c.Spec != nil {
		return c.Spec(p)
	}
	return policies.Spec{Revision: 1, MB: p.MB, Slots: max(1, c.Slots), ColdEst: p.Cold, Layer: c.layer(p.Name)}
}

// layer returns the language of a function, the same in every run.
func (c *Config) layer(name string) policies.LayerID {
	if c.Languages < 1 {
		return 0
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // a hash takes everything
	return policies.LayerID(1 + h.Sum32()%uint32(c.Languages))
}

// TooLargeError is a function that no node can ever run.
type TooLargeError struct {
	Function   string
	MB, PoolMB int64
}

// Error names the function, its memory and the pool.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("function %s needs %d MB, a node has %d MB", e.Function, e.MB, e.PoolMB)
}
