package policies

import "time"

// FactKind says what happened.
type FactKind uint8

// Facts. Which fields of a Fact are set is said beside each.
const (
	FactArrived  FactKind = iota // Fn, Req
	FactStarted                  // Fn, Sandbox, Seq: memory granted, victims were reported before
	FactReady                    // Fn, Sandbox, Dur: initialisation as the mechanism measured it
	FactUsed                     // Fn, Sandbox, Req, Start, Dur: the wait
	FactFinished                 // Fn, Sandbox, Req, Dur: the execution
	FactIdle                     // Fn, Sandbox: no request left in it
	FactEvicted                  // Fn, Sandbox, Seq: made way for start Seq, 0 if it expired
	FactGone                     // Fn, Sandbox: left the live set for any reason, eviction included; follows FactEvicted
	FactDropped                  // Fn, Req: rejected or cancelled while waiting
)

// Fact is something that happened in the engine. The view already shows the
// state after it.
type Fact struct {
	Kind    FactKind
	Fn      FuncID
	Sandbox SandboxID
	Req     RequestID
	Seq     uint64
	Start   Kind // of FactUsed
	Dur     time.Duration
}

// Observer may be implemented by any policy.
type Observer interface {
	Observe(View, Fact)
}

// Reporter may be implemented by any policy that counts something worth
// showing, for instance how often a switch was thrown.
type Reporter interface {
	Report(put func(name string, value int64))
}

// Oracle knows the future of a recorded workload. It is nil in the worker.
type Oracle interface {
	// NextArrival returns the k-th next arrival of the function, k from 1,
	// Never if there is none.
	NextArrival(fn FuncID, k int) Time
	// Exec returns the execution time of a request.
	Exec(RequestID) time.Duration
}

// ClusterView is what a Placer sees: one View per node.
type ClusterView interface {
	Nodes() int
	Up(node int) bool
	View(node int) View
	InFlight(node int) int
}

// Placer chooses the node for the next request of a function, -1 if none is up.
type Placer interface {
	Place(ClusterView, FuncID) int
}
