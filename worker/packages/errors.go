package packages

import (
	"errors"
	"fmt"
	"strings"

	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// Words for programs, one for each way in which packages cannot be had.
const (
	WordIndex    = "package-index-unreachable" // temporary
	WordMissing  = "package-not-found"         // the index has no such package or version
	WordFailed   = "package-failed"            // pip gave up: broken wheel, failed build
	WordConflict = "package-conflict"          // two packages of a lambda exclude each other
	WordLimit    = "package-limit"             // of time, memory or disk
	WordNoPip    = "no-pip"                    // the base image lacks it
	WordHost     = "package-host"              // the worker's own fault; temporary
)

// InstallError is a package that a lambda needs and cannot have.
type InstallError struct {
	Package   string // as the lambda asks for it
	Word      string
	Reason    string // one line: why, and what to do
	Output    string // the last lines of pip
	Temporary bool   // another try may succeed
	Err       error  // cause, may be nil
}

// Error names the package and the reason.
func (e *InstallError) Error() string {
	return fmt.Sprintf("install package %s: %s", e.Package, e.Reason)
}

// Unwrap returns the cause.
func (e *InstallError) Unwrap() error { return e.Err }

// noPip is what the runtime's installer ends with where there is no pip.
const noPip = 97

// explain makes an InstallError of whatever an installation failed with.
func explain(pkg string, err error, output string) *InstallError {
	e := &InstallError{Package: pkg, Output: output, Err: err}
	var known *InstallError
	var job *sandbox.JobError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, errLate):
		e.Word, e.Reason = WordLimit, "it took longer than installer_limits.runtime_sec"
	case errors.Is(err, errLarge):
		e.Word, e.Reason = WordLimit, "it needs more disk space than pkgs_max_mb leaves"
	case errors.As(err, &job):
		e.blame(job)
	default:
		e.Word, e.Reason, e.Temporary = WordHost, err.Error(), true
	}
	return e
}

// blame finds out from what pip printed whose fault it is.
func (e *InstallError) blame(job *sandbox.JobError) {
	text := e.Output
	switch {
	case job.Code == noPip:
		e.Word = WordNoPip
		e.Reason = "the base image of the sandboxes has no pip: install python3-pip (base host), or use a base that has it: ol worker init --newbase -i IMAGE"
	case job.Code == 0:
		e.Word, e.Reason = WordLimit, job.Reason+": raise installer_limits.mem_mb"
		if job.Reason != "out of memory" {
			e.Word, e.Reason = WordFailed, "pip ended by "+job.Reason
		}
	case containsAny(text, "connection broken by", "Could not fetch URL", "Failed to establish a new connection", "Name or service not known", "Temporary failure in name resolution"):
		e.Word, e.Temporary = WordIndex, true
		e.Reason = "the package index cannot be reached: check pip_mirror and the network"
	case strings.Contains(text, "No matching distribution found"):
		e.Word, e.Reason = WordMissing, missing(text)
	default:
		e.Word, e.Reason = WordFailed, lastFault(text, job.Reason)
	}
}

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// missing says what the index has instead.
func missing(text string) string {
	_, list, _ := strings.Cut(text, "(from versions: ")
	list, _, ok := strings.Cut(list, ")")
	if !ok || list == "none" || list == "" {
		return "the package index has no such package for this Python"
	}
	return "the package index has no such version; it has " + list
}

// lastFault is the last line in which pip says what went wrong.
func lastFault(text, otherwise string) string {
	fault := "pip ended with " + otherwise
	for line := range strings.Lines(text) {
		if reason, ok := strings.CutPrefix(strings.TrimSpace(line), "ERROR: "); ok {
			fault = reason
		}
	}
	return fault
}
