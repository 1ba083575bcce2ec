package sock

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"time"
)

// Origins of a sandbox.
const (
	FromPool   = "pool"
	FromZygote = "zygote"
	Fresh      = "fresh"
)

// ErrClosed says that the provider takes no more work.
var ErrClosed = errors.New("sandbox provider is closed")

// Spec is what one sandbox must be.
type Spec struct {
	ID       string            // unique on the node, [a-z0-9-]
	Dir      string            // the lambda's code, readable by any user; shown read-only as /handler
	Entry    string            // file in Dir to load
	Handler  string            // object in Entry, "" for the runtime's choice
	Env      map[string]string // complete environment
	Packages []string          // directories for the module search path, read-only

	MemMB      int64 // hard limit, MiB; 0 is none
	CPUPercent int   // 100 is one core; 0 is no limit
	Procs      int   // processes and threads; 0 is no limit
	Slots      int   // requests served at once, at least 1
	MaxBody    int64 // largest request or answer body, bytes

	Output io.Writer // gets what the lambda prints, whole lines in one Write each; nil drops it
}

// maxPackages is bounded by the descriptors that one control message carries.
const maxPackages = 48

var sandboxID = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// Validate reports the first impossible value.
func (s Spec) Validate() error {
	switch {
	case !sandboxID.MatchString(s.ID):
		return fmt.Errorf("bad sandbox id %q", s.ID)
	case !filepath.IsAbs(s.Dir):
		return fmt.Errorf("code directory %q is not absolute", s.Dir)
	case s.Slots < 1:
		return errors.New("a sandbox needs at least one slot")
	case s.MemMB < 0 || s.CPUPercent < 0 || s.Procs < 0:
		return errors.New("a limit is negative")
	case len(s.Packages) > maxPackages:
		return fmt.Errorf("%d packages are more than %d", len(s.Packages), maxPackages)
	}
	return nil
}

// Info tells what is known of a sandbox.
type Info struct {
	Origin   string          // FromPool, FromZygote or Fresh
	Init     time.Duration   // from Create to ready
	Exited   <-chan struct{} // closed when the process inside has ended by itself
	ExitText string          // why, once Exited is closed: "out of memory", "exit code 3", "signal: killed"
	MemBytes int64           // charged now, 0 if unknown
	Detail   string          // process and cgroup, for humans
}

// StartError is a start that failed.
type StartError struct {
	Lambda bool   // the lambda's fault: import error, exit, out of memory
	Reason string // one line: what and why
	Output string // traceback, or the last lines printed
	Err    error  // cause, may be nil
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
