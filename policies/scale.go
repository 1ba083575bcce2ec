package policies

import "time"

// Binding says what a request that has to wait is waiting for.
type Binding uint8

// Bindings.
const (
	// Late: the function's FIFO; whatever sandbox of the function is free or
	// ready first takes the head (CIDRE section 3.2).
	Late Binding = iota
	// ToStart: the sandbox that is started for it, and no other, except that
	// while its start lacks memory an idle sandbox of its function may take
	// it (it then counts as delayed, and as blocked).
	ToStart
	// ToSandbox: the queue of one busy sandbox, Verdict.Sandbox.
	ToSandbox
)

// Verdict is a scaler's decision about one function.
type Verdict struct {
	Start   int       // sandboxes to want besides those already wanted
	Cancel  int       // starts to give up, newest first: queued ones, then provisioning ones
	Bind    Binding   // of the request asked about; ignored in a Recheck
	Sandbox SandboxID // for ToSandbox
	Again   Time      // call Recheck at this moment; Never for none. Replaces the last one
}

// Scaler decides what to do when a request finds nobody available.
type Scaler interface {
	// Blocked is called once for a request that found no free slot. The
	// request is already counted in Func.Waiting and in Func.Arrived. The
	// Outcome, if not nil, is told exactly once how the wait ended.
	Blocked(View, Request) (Verdict, Outcome)
	// Recheck is called at Verdict.Again, and after a sandbox of the function
	// became ready, failed, came free or died; after a failure that is not
	// retried, when the first back-off has passed.
	Recheck(View, FuncID) Verdict
}

// Outcome hears how the wait of one request ended: exactly one method is
// called, once, even if the request was given up.
type Outcome interface {
	Delayed(now Time, wait time.Duration)
	Cold(now Time, wait time.Duration)
	Abandoned(now Time, wait time.Duration)
}

// Picker chooses among the available sandboxes of a function, of which there
// is at least one. Without a Picker the most recently used one is taken, so
// that the surplus ages.
type Picker interface {
	Pick(View, FuncID) SandboxID
}
