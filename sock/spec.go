package sock

import (
	"errors"
	"fmt"
	"io"
	"net/http"
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
	Function string            // the lambda's name, for its context
	Dir      string            // the lambda's code, readable by any user; shown read-only as /handler
	Entry    string            // file in Dir to load
	Handler  string            // object in Entry, "" for the runtime's choice
	Env      map[string]string // complete environment
	Packages []Package         // for the module search path, read-only, in this order

	Imports []string // modules that the code imports by name, for the choice of a zygote
	Own     []string // top-level modules that the code brings along

	Network string // "" is the provider's

	MemMB      int64 // hard limit, MiB; 0 is none
	CPUPercent int   // 100 is one core; 0 is no limit
	Procs      int   // processes and threads; 0 is no limit
	Slots      int   // requests served at once, at least 1
	MaxBody    int64 // largest request or answer body, bytes

	Runtime time.Duration // what the worker allows a request, for the lambda's context; 0: no limit

	Output io.Writer    // gets what the lambda prints, whole lines in one Write each; nil drops it
	Calls  http.Handler // answers on /host/invoke.sock inside; nil: there is no such socket
}

// Package is an installed Python package.
type Package struct {
	Name    string   // name==version, unique in a Spec; in /packages of the sandbox it has this name
	Dir     string   // with its modules
	Modules []string // top-level; what a lambda itself has under one of these names is left out
}

// maxPackages is bounded by the descriptors that one control message carries
// (the kernel's SCM_MAX_FD is 253).
const maxPackages = 240

var (
	sandboxID   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	packageName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.=+!_-]{0,200}$`)
)

// Validate reports the first impossible value.
func (s Spec) Validate() error {
	switch {
	case !sandboxID.MatchString(s.ID):
		return fmt.Errorf("bad sandbox id %q", s.ID)
	case !filepath.IsAbs(s.Dir):
		return fmt.Errorf("code directory %q is not absolute", s.Dir)
	case s.Network != "" && !knownNetwork(s.Network):
		return fmt.Errorf("there is no network %q", s.Network)
	case s.Slots < 1:
		return errors.New("a sandbox needs at least one slot")
	case s.MemMB < 0 || s.CPUPercent < 0 || s.Procs < 0:
		return errors.New("a limit is negative")
	case len(s.Packages) > maxPackages:
		return fmt.Errorf("%d packages are more than %d", len(s.Packages), maxPackages)
	}
	return checkPackages(s.Packages)
}

func checkPackages(packages []Package) error {
	seen := map[string]bool{}
	for _, p := range packages {
		switch {
		case !packageName.MatchString(p.Name):
			return fmt.Errorf("bad package name %q", p.Name)
		case seen[p.Name]:
			return fmt.Errorf("package %s is there twice", p.Name)
		case !filepath.IsAbs(p.Dir):
			return fmt.Errorf("package directory %q is not absolute", p.Dir)
		}
		seen[p.Name] = true
	}
	return nil
}

func packageNames(packages []Package) []string {
	names := make([]string, len(packages))
	for i, p := range packages {
		names[i] = p.Name
	}
	return names
}

// Info tells what is known of a sandbox.
type Info struct {
	Origin   string          // FromPool, FromZygote or Fresh
	Zygote   string          // of the tree, "/package:modules" for each step below the root; "": none
	Init     time.Duration   // from Create to ready
	Exited   <-chan struct{} // closed when the process inside has ended by itself
	ExitCode int             // of its exit; 0 before, and if a signal ended it
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
