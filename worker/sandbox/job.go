package sandbox

import (
	"context"
	"io"
)

// Package is an installed Python package.
type Package struct {
	Name    string   // with its version, numpy==1.26.4: two of one name are the same
	Dir     string   // what belongs on the module search path
	Modules []string // top-level modules that it provides
}

// Runner runs jobs. A provider of sandboxes may be one.
type Runner interface {
	// Run runs a job to its end; it is killed when ctx ends. A job that ran
	// and failed is a *JobError; every other error is the host's or of ctx.
	Run(ctx context.Context, job Job) error
}

// Job is a module of the runtime that runs once as a program, in a sandbox of
// its own with the host's network.
type Job struct {
	ID       string            // unique on the node, [a-z0-9-]
	Module   string            // its function main is called
	Args     []string          // sys.argv[1:]
	Env      map[string]string // complete
	Dir      string            // its working directory, shown as JobDir: the job's alone while it runs
	Packages []Package         // shown below PackagesDir, each under its name

	MemMB      int64 // hard limit
	CPUPercent int   // 100 is one core
	Procs      int   // processes and threads

	Output io.Writer // what it prints, line by line
}

// Paths inside a job's sandbox.
const (
	JobDir      = "/handler"
	PackagesDir = "/packages"
)

// JobError is a job that ended with another status than 0.
type JobError struct {
	Reason string // "exit code 3", "out of memory", "signal: killed"
	Code   int    // of the exit; 0 if there was none
	Output string // the last lines that it printed
}

// Error returns the reason.
func (e *JobError) Error() string { return "run job: " + e.Reason }
