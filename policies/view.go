package policies

import "time"

// Spec is what the scheduler must know about one revision of a function.
type Spec struct {
	Revision uint32        // any value that differs between revisions
	MB       int64         // memory charged for one sandbox, MB
	Slots    int           // requests that one sandbox serves at once, at least 1
	Min      int           // sandboxes kept pre-warmed, never evicted
	Max      int           // most sandboxes at once, queued starts included; 0 is no limit
	OneShot  bool          // a sandbox serves one request and is destroyed
	ColdEst  time.Duration // expected cold start before there are samples; 0 unknown
	Layer    LayerID       // the layer that a sandbox of it can be demoted to
}

// Func is what a policy may know about a function. The engine owns it.
type Func struct {
	ID   FuncID
	Spec Spec

	Arrived      int64 // requests ever, all revisions
	FirstArrival Time
	LastArrival  Time

	InFlight  int  // requests that wait or run, those in ending sandboxes included
	Waiting   int  // requests in its queue, bound ones included
	HeadSince Time // arrival of the oldest late-bound one; Never if none

	// Sandboxes of the current revision.
	Available    int   // ready, with a free slot
	IdleCount    int   // ready, with no request in it
	BusyCount    int   // with at least one request
	Provisioning int   // memory granted, not ready yet
	Queued       int   // starts that wait for memory or for a start slot
	Live         int   // |F| of the paper: provisioning + idle + busy
	HeldMB       int64 // memory charged, older revisions and dying ones included

	// KeepUntil is a prewarmer's wish: an Evictor does not expire a sandbox
	// of the function before. Pressure is not bound by it.
	KeepUntil Time

	// ColdNow is what a start would cost now (from a zygote that has its
	// packages, from the pool, fresh); Spec.ColdEst until the driver says.
	ColdNow time.Duration

	// Heads of intrusive lists; follow Sandbox.Next until NoSandbox.
	FirstAvailable SandboxID // most recently used first
	FirstBusy      SandboxID // most recently begun first
	FirstStarting  SandboxID // newest first
}

// Sandbox is what a policy may know about a sandbox. The engine owns it.
type Sandbox struct {
	ID       SandboxID
	Fn       FuncID
	Revision uint32
	Born     uint64 // order of creation, never reused: the tie-break
	State    State
	Form     Form
	Cause    Cause
	Pinned   bool // counted in min_sandboxes, so the evictor never sees it
	MB       int64
	Slots    int
	Running  int   // requests in it
	Uses     int64 // requests ever given to it

	StartedAt   Time // memory granted
	ReadyAt     Time // Never until ready
	ExpectReady Time // expected ReadyAt while provisioning
	BusySince   Time // when its current turn began: the start of its request if Slots is 1; Never when idle
	LastUse     Time // last moment when a request began or ended in it; ReadyAt before that

	// Links of the lists that begin in Func.
	Next     SandboxID // in FirstAvailable's or FirstStarting's list
	NextBusy SandboxID // in FirstBusy's list
}

// Node is what a policy may know about the node.
type Node struct {
	PoolMB       int64
	FreeMB       int64 // not charged to any sandbox; may be negative after a resize
	IdleMB       int64 // charged to idle sandboxes that may be evicted
	DyingMB      int64 // charged to sandboxes being destroyed
	QueuedStarts int
	Starting     int // sandboxes being provisioned
	Funcs        int // functions ever defined
}

// View is what a policy sees at the moment of a decision. What it points to
// is the engine's: policies read it, never write it, and keep no pointer.
// All methods are O(1) and allocate nothing.
type View interface {
	Now() Time
	Node() *Node
	Func(FuncID) *Func
	Sandbox(SandboxID) *Sandbox
}

// Request is the request that a policy is asked about.
type Request struct {
	ID      RequestID
	Fn      FuncID
	Arrived Time
}

// Start is a start that wants memory.
type Start struct {
	Seq   uint64 // names the start: never reused, in order of wish
	Fn    FuncID
	MB    int64
	Cause Cause
}
