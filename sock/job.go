package sock

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/open-lambda/open-lambda/sock/cgroup"
)

// Job is a Python program that runs once, in a sandbox of its own.
type Job struct {
	ID       string            // unique on the node, [a-z0-9-]
	Dir      string            // its working directory, shown as /handler: the job's alone while it runs
	Packages []Package         // shown read-only below /packages, each under its name
	Args     []string          // after the interpreter
	Env      map[string]string // complete environment
	Network  string            // NetworkHost or NetworkNone

	MemMB      int64 // hard limit, MiB; 0 is none
	CPUPercent int   // 100 is one core; 0 is no limit
	Procs      int   // processes and threads; 0 is no limit

	Output io.Writer // gets what the job prints, whole lines in one Write each; nil drops it
}

// RuntimeArgs are the Args of a job that calls main of one of the runtime's
// modules, which finds args in sys.argv[1:].
func RuntimeArgs(module string, args ...string) []string {
	return append([]string{"-I", "-c", "import sys; sys.path.append('/runtime'); from olrt import " + module + "; " + module + ".main()"}, args...)
}

// Spec is the sandbox that the job runs in.
func (j Job) Spec() Spec {
	return Spec{
		ID: j.ID, Dir: j.Dir, Packages: j.Packages, Env: j.Env, MemMB: j.MemMB, CPUPercent: j.CPUPercent,
		Procs: j.Procs, Slots: 1, Output: j.Output,
	}
}

// JobError is a job that ended with another status than 0.
type JobError struct {
	Reason string // "exit code 3", "out of memory", "signal: killed"
	Code   int    // of the exit; 0 if there was none
	Output string // the last lines that it printed
}

// Error returns the reason.
func (e *JobError) Error() string { return "run job: " + e.Reason }

// Run runs a job to its end. It is killed when ctx ends. Whatever it did to
// Dir, everything there belongs to root afterwards. A job that ran and failed
// is a *JobError; every other error is the host's or of ctx.
func (p *Provider) Run(ctx context.Context, job Job) error {
	return p.roster.Work(ctx, job, func(ctx context.Context, spec Spec) error {
		c, err := p.startFresh(job.Network)
		if err != nil {
			return fmt.Errorf("run job: %w", err)
		}
		defer p.discard(c)
		return p.runJob(ctx, c, job, spec)
	})
}

// runJob lets a child that is set up become the job, and waits for its end.
func (p *Provider) runJob(ctx context.Context, c *child, job Job, spec Spec) error {
	if err := c.group.SetLimits(cgroup.Limits{MemMB: spec.MemMB, CPUPercent: spec.CPUPercent, Procs: spec.Procs}); err != nil {
		return fmt.Errorf("run job: %w", err)
	}
	mounts, err := JobMounts(c.Guest, job, c.users)
	if err != nil {
		return fmt.Errorf("run job: %w", err)
	}
	defer mounts.Close()
	return c.Execute(ctx, job, body{p, c}, mounts...)
}

// JobMounts gives the job its directory and returns it as a mount, with those of
// packages behind it. What the job makes belongs to its user on the disk too.
// users is the user namespace that packages are shown for, or nil.
func JobMounts(g *Guest, job Job, users *os.File) (Files, error) {
	uid := g.UID()
	if err := os.Chown(job.Dir, uid, uid); err != nil {
		return nil, fmt.Errorf("give directory away: %w", err)
	}
	dir, err := detachedMount(job.Dir, false, nil)
	if err != nil {
		return nil, err
	}
	packages, err := packageMounts(job.Packages, users)
	if err != nil {
		dir.Close()
		return nil, err
	}
	return append(Files{dir}, packages...), nil
}

// Reclaim makes root the owner of everything below dir, so that no later
// sandbox that gets the job's user id owns any of it.
func Reclaim(dir string) error {
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, 0, 0)
	})
	if err != nil {
		return fmt.Errorf("take directory back from job: %w", err)
	}
	return nil
}
