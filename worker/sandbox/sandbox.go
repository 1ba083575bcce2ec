package sandbox

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/open-lambda/open-lambda/src/wire"
)

// Provider makes sandboxes. It is implemented outside this package (SOCK
// sandboxes, OCI containers, fakes in tests) and joined to it in src/cmd/ol.
type Provider interface {
	// Create makes one sandbox and returns when it can serve: the lambda's
	// code is loaded. It gives up, cleaning up, when ctx ends. A failure is a
	// *StartError.
	Create(ctx context.Context, spec Spec) (Sandbox, error)
	// Close destroys what is left and releases the host's resources.
	Close(ctx context.Context) error
}

// InvokeSocket is where a lambda that may call others finds the platform.
const InvokeSocket = "/host/invoke.sock"

// Estimator is a provider that can tell what a start would take.
type Estimator interface {
	// Estimate says how long Create would take now; false if nothing is known.
	// It is quick.
	Estimate(spec Spec) (time.Duration, bool)
}

// Spec is everything a provider must know to make a sandbox.
type Spec struct {
	ID       string // unique on the node, [a-z0-9-]
	Function string
	Dir      string            // directory with the lambda's code, mounted read-only as /handler
	Entry    string            // file in Dir that is loaded, "f.py" by default
	Handler  string            // object in Entry; "" finds f, then app
	Env      map[string]string // complete: nothing of the host's environment leaks
	Imports  []string          // modules that the code imports by name, in its order
	Own      []string          // top-level modules in Dir, which hide others of their name
	Packages []Package         // put on the module search path in this order, read-only

	MemMB      int64  // hard limit
	CPUPercent int    // 100 is one core
	Procs      int    // processes and threads
	Slots      int    // requests served at once
	Network    string // "none", "host" or "nat"; "" is the provider's own
	MaxBody    int64  // largest request or answer body the runtime takes, bytes

	Runtime time.Duration // longest execution of a request, which the worker enforces; 0: no limit

	Output io.Writer // what the lambda prints, line by line; never blocks the lambda for long

	// Calls makes the handler that answers on the unix socket InvokeSocket,
	// which exists in the sandbox only if this is set. It is called once for
	// each sandbox with its id; the handler must not be used after Destroy.
	Calls func(id string) http.Handler
}

// Sandbox is one ready sandbox.
type Sandbox interface {
	// RoundTripper sends one request to the runtime inside. Concurrent use is
	// allowed up to Spec.Slots. The URL's path and query are what the
	// lambda sees; scheme and host are ignored. ErrNotSent wraps the error
	// when nothing of the request can have been seen by the lambda.
	http.RoundTripper
	// SetFrozen freezes or thaws it. Freezing a frozen one is no error.
	SetFrozen(frozen bool) error
	// Destroy kills what runs in it, waits for the kernel and removes every
	// trace. Safe to call twice. ctx bounds the wait, not the removal.
	Destroy(ctx context.Context) error
	// Info tells what is known of it now.
	Info() Info
}

// Info describes a sandbox for humans, headers and metrics.
type Info struct {
	Origin   string          // "pool", "zygote" or "fresh"
	Init     time.Duration   // from Create to ready
	Exited   <-chan struct{} // closed when the runtime inside has ended by itself
	ExitText string          // why, once Exited is closed: "out of memory", "exit code 3", "signal: killed"
	MemBytes int64           // charged now, 0 if unknown
	Detail   string          // cgroup and such, for /debug
}

// StartError is a start that failed.
type StartError struct {
	Lambda bool   // the lambda's fault: import error, exit, out of memory
	Reason string // one line: what and why
	Output string // the last lines that the lambda printed
	Err    error
}

// Error returns the reason and the cause.
func (e *StartError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("start sandbox: %s: %v", e.Reason, e.Err)
	}
	return "start sandbox: " + e.Reason
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// ErrNotSent is wrapped by a RoundTrip's error when nothing of the request can
// have been seen by the lambda, so that it may be sent to another sandbox. It
// is the wire's own.
var ErrNotSent = wire.ErrNotSent
