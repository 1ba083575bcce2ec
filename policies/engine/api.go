package engine

import (
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

// EventKind says what an Event reports.
type EventKind uint8

// Events. Which fields of an Event are read is said beside each.
const (
	// EvDefine: Fn, Spec. A function appears or gets a new revision: its
	// older sandboxes serve nobody new, its history is kept.
	EvDefine EventKind = iota
	// EvForget: Fn. Its waiting requests are rejected (ReasonForgotten), its
	// sandboxes destroyed as they come idle. Arrivals are rejected until the
	// function is defined again.
	EvForget
	// EvEstimate: Fn, Dur. What a start would cost now.
	EvEstimate
	// EvArrive: Fn, Req.
	EvArrive
	// EvCancel: Req. The caller is gone. Ignored unless the request waits: a
	// running one is ended by the driver and then reported as finished.
	EvCancel
	// EvFinished: Req, Sandbox, Dur (execution), OK (the sandbox can serve
	// another request).
	EvFinished
	// EvReturned: Req, Sandbox. The request could not be sent because the
	// sandbox died: it is queued again at its old place. The sandbox is
	// destroyed. After Config.Retries of new sandboxes that died so the
	// request is rejected (ReasonLambda).
	EvReturned
	// EvReady: Sandbox, Dur (initialisation as measured).
	EvReady
	// EvFailed: Sandbox, Fault. The start failed and the mechanism has
	// cleaned up: nothing of it is left, its memory is free. Also the answer
	// to a Destroy that cancelled a start is EvGone, not EvFailed.
	EvFailed
	// EvDied: Sandbox. A ready sandbox died by itself. The engine answers
	// with Destroy; requests in it are reported by EvFinished (OK false) or
	// EvReturned.
	EvDied
	// EvGone: Sandbox. The mechanism confirms that it is gone.
	EvGone
	// EvReshaped: Sandbox, Form, MB. What is left after ActReshape; FormFull
	// says that it could not be done and the sandbox is as it was.
	EvReshaped
	// EvResize: MB. A new pool size.
	EvResize
	// EvTick: due timers run. Every Step runs them as well.
	EvTick
)

// Fault says whose fault a failed start is.
type Fault uint8

// Faults.
const (
	FaultHost   Fault = iota // retried with back-off
	FaultLambda              // import error, exit, out of memory: reported to the callers
)

// Event is one thing that the driver reports.
type Event struct {
	Kind    EventKind
	Fn      policies.FuncID
	Req     policies.RequestID
	Sandbox policies.SandboxID
	Dur     time.Duration
	MB      int64
	OK      bool
	Fault   Fault
	Form    policies.Form
	Spec    policies.Spec
}

// ActionKind says what the driver shall do.
type ActionKind uint8

// Actions. Which fields of an Action are set is said beside each.
const (
	// ActStart: Fn, Sandbox, From, Revision, MB. Make a sandbox; From, if not
	// NoSandbox, is used up by it and gets no Destroy and no EvGone. Answer:
	// EvReady or EvFailed, or EvGone if a Destroy came first.
	ActStart ActionKind = iota
	// ActRun: Req, Sandbox, Start (kind), Blocked, Wait. Answer: EvFinished
	// or EvReturned.
	ActRun
	// ActReshape: Sandbox, Form. Answer: EvReshaped, or EvDied.
	ActReshape
	// ActDestroy: Sandbox, Reason. Any state but busy; cancels provisioning.
	// Answer: EvGone. No other event for this sandbox may follow it; one
	// that was on its way already (EvReady, EvFailed) is accepted.
	ActDestroy
	// ActReject: Req, Reason, Wait.
	ActReject
)

// Reason says why a request was rejected or a sandbox destroyed.
type Reason uint8

// Reasons.
const (
	ReasonNone      Reason = iota
	ReasonQueueFull        // request: the function's queue is full
	ReasonTooLarge         // request: the function never fits the pool
	ReasonForgotten        // request, sandbox: the function was removed
	ReasonLambda           // request: its start failed by the lambda's fault
	ReasonHost             // request: its start failed by the host's fault, retries included
	ReasonPressure         // sandbox: evicted for a start
	ReasonExpired          // sandbox: its keep-alive ended
	ReasonRevision         // sandbox: of an older revision
	ReasonUnusable         // sandbox: died, or not reusable
	ReasonCancelled        // sandbox: its start is not needed any more
	ReasonResize           // sandbox: the pool shrank
	ReasonStarved          // sandbox: freed for a start that waited too long
	ReasonFull             // request: no memory, and Config.DropFull says not to wait for it
)

// Action is one thing for the driver to do.
type Action struct {
	Kind     ActionKind
	Fn       policies.FuncID
	Req      policies.RequestID
	Sandbox  policies.SandboxID
	From     policies.SandboxID
	Start    policies.Kind
	Blocked  bool // a delayed request that was bound to a start that lacked memory
	Form     policies.Form
	Reason   Reason
	Revision uint32
	MB       int64
	Wait     time.Duration
}

// Config is the fixed part of an engine.
type Config struct {
	PoolMB     int64         // memory for sandboxes, MB; at least 1
	StartSlots int           // starts in progress at most; 0 is no limit
	StarveMin  time.Duration // starve_after is max(StarveMin, 2 T_p); 0 switches it off
	QueueLimit int           // waiting requests per function at most; 0 is no limit
	RetryBase  time.Duration // first back-off after a host fault; 0 means 100 ms
	Retries    int           // retries after a host fault; negative: none; 0 means 3
	// DropFull makes a full node refuse instead of queue, with the evictions of
	// the simulator that FaasCache was published with: see makeRoom.
	DropFull bool

	Scaler    policies.Scaler    // required
	Evictor   policies.Evictor   // required
	Picker    policies.Picker    // optional
	Prewarmer policies.Prewarmer // optional
}
