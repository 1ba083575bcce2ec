package sock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Start lets make make one sandbox, registers it, and says how long it took.
// make must leave nothing when it fails, with a *StartError, or when its
// context ends, which it does with ctx or the roster.
func (r *Roster) Start(ctx context.Context, spec Spec, make func(context.Context) (Body, *Guest, error)) (*Sandbox, time.Duration, error) {
	begin := time.Now()
	if err := spec.Validate(); err != nil {
		return nil, 0, &StartError{Reason: err.Error()}
	}
	ctx, end, err := r.Begin(ctx)
	if err != nil {
		return nil, 0, &StartError{Reason: "shutting down", Err: err}
	}
	defer end()
	body, guest, err := make(ctx)
	if err != nil {
		return nil, 0, err
	}
	took := time.Since(begin)
	return r.Keep(body, guest, took), took, nil
}

// Work lets run run one job to its end, in a sandbox of its own that is gone
// when it returns. Whatever the job did to its directory, everything there
// belongs to root afterwards.
func (r *Roster) Work(ctx context.Context, job Job, run func(context.Context, Spec) error) error {
	spec := job.Spec()
	if err := spec.Validate(); err != nil {
		return fmt.Errorf("run job: %w", err)
	}
	ctx, end, err := r.Begin(ctx)
	if err != nil {
		return fmt.Errorf("run job: %w", err)
	}
	defer end()
	return errors.Join(run(ctx, spec), Reclaim(job.Dir))
}
