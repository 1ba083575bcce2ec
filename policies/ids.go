package policies

import (
	"strconv"
	"time"
)

// Time is a moment of the run in nanoseconds since the driver's epoch. A
// driver starts at 1 or later, so that 0 can mean "never" or "unknown".
type Time int64

// Never is the Time that means "no such moment".
const Never Time = 0

// Add returns the moment d after t.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// Sub returns the time from u to t.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Earliest returns the earlier of two moments, where Never is later than any.
func Earliest(a, b Time) Time {
	if a == Never || (b != Never && b < a) {
		return b
	}
	return a
}

// FuncID names a function. The driver hands out dense ids from 0. It may give
// the id of a function that was forgotten long ago, and has neither sandboxes
// nor requests, to another, whose history then begins with that one's: a worker
// to which ever new functions come would otherwise grow for good.
type FuncID int32

// SandboxID names a sandbox. The engine hands out dense ids and reuses one
// only after the mechanism has confirmed that its sandbox is gone. Order of
// creation is Sandbox.Born, never the id.
type SandboxID int32

// RequestID names an invocation. The driver hands out dense ids from 0 and
// may reuse one once its request was finished, rejected or cancelled.
type RequestID int32

// NoFunc, NoSandbox and NoRequest are the ids that name nothing.
const (
	NoFunc    FuncID    = -1
	NoSandbox SandboxID = -1
	NoRequest RequestID = -1
)

// Kind says how a request got its sandbox.
type Kind uint8

// The three kinds of start.
const (
	// Warm: a sandbox had a free slot when the request arrived, whether it
	// had been used before or not.
	Warm Kind = iota
	// Cold: the request waited and was served at the first use of a sandbox
	// that became ready during the wait and was started for demand.
	Cold
	// Delayed: any other request that waited.
	Delayed
)

// String returns the word used in headers, tables and metrics.
func (k Kind) String() string {
	switch k {
	case Warm:
		return "warm"
	case Cold:
		return "cold"
	case Delayed:
		return "delayed"
	}
	return "unknown"
}

// Form is what is left of a sandbox's memory: the full sandbox, a shrunk one
// (CodeCrunch), or one of the layers that can be shared between functions
// (RainbowCake). FormLayer+k is layer k.
type Form uint8

// Forms. Only a full sandbox serves requests.
const (
	FormFull Form = iota
	FormShrunk
	FormGone  // an answer of Expire only: destroy it
	FormLayer // FormLayer+k: demoted to layer k
)

// String returns the word used in logs and in /debug.
func (f Form) String() string {
	switch f {
	case FormFull:
		return "full"
	case FormShrunk:
		return "shrunk"
	case FormGone:
		return "gone"
	}
	return "layer " + strconv.Itoa(int(f-FormLayer))
}

// LayerID names a layer that several functions share, for instance their
// language runtime. 0 means none.
type LayerID int32

// Cause says why a sandbox was started.
type Cause uint8

// Causes of a start.
const (
	ForDemand  Cause = iota // a request waits or waited for it
	ForMinimum              // min_sandboxes of the function
	ForPrewarm              // a Prewarmer asked for it
)

// State is where a sandbox is in its life, as the engine sees it.
type State uint8

// States of a sandbox. Busy means at least one request runs in it.
const (
	Gone State = iota
	Provisioning
	Idle
	Busy
	Dying // its memory stays charged until the mechanism confirms
)

// String returns the word used in metrics and in /debug.
func (s State) String() string {
	switch s {
	case Gone:
		return "gone"
	case Provisioning:
		return "provisioning"
	case Idle:
		return "idle"
	case Busy:
		return "busy"
	case Dying:
		return "dying"
	}
	return "unknown"
}
