package async

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/inprocess"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/pause"
)

// handle runs what was delivered, and says what is to become of it.
func (s *Service) handle(ctx context.Context, d Delivery) error {
	j, err := decodeJob(d.Work())
	if err != nil { // nobody will ever understand it
		return errors.Join(err, d.Done(ctx))
	}
	r, revision, err := s.claim(ctx, j)
	if err != nil {
		return err // it comes again when its lease is over
	}
	if r == nil {
		return d.Done(ctx)
	}
	if why := s.hopeless(j, r); why != "" {
		return s.bury(ctx, d, j, r, revision, why)
	}
	// What comes of it is written down even if the boss stops.
	lasting := context.WithoutCancel(ctx)
	defer s.keepBusy(lasting, d)()
	a, err := s.execute(ctx, j)
	switch {
	case err != nil: // it cannot even be sent
		return s.bury(lasting, d, j, r, revision, err.Error())
	case a == nil:
		return s.handBack(lasting, d, r, revision)
	}
	return s.settle(lasting, d, j, r, revision, a)
}

// claim makes the job running, for this boss; nil if there is nothing to run.
func (s *Service) claim(ctx context.Context, j *Job) (*record, uint64, error) {
	for {
		r, last, err := s.load(ctx, j.ID)
		if err != nil {
			return nil, 0, err
		}
		switch {
		case r == nil, r.Round < j.Round:
			r = newRecord(j, time.Now())
		case r.Round > j.Round, r.State == api.AsyncDone, r.State == api.AsyncCanceled, r.State == api.AsyncDead:
			return nil, 0, nil
		case r.State == api.AsyncRunning: // whoever ran it was lost, or cannot say so
			r.Lost++
		}
		r.State, r.Changed = api.AsyncRunning, time.Now()
		revision, err := s.save(ctx, r, last, 0)
		if errors.Is(err, ErrStale) {
			continue
		}
		return r, revision, err
	}
}

// maxLost is how many bosses a job may outlive. One that kills its boss must
// not do so for ever.
const maxLost = 10

// hopeless says why a job is not even tried again, "" if it is.
func (s *Service) hopeless(j *Job, r *record) string {
	switch {
	case r.Lost > maxLost:
		return fmt.Sprintf("%d bosses were lost with it", r.Lost)
	case r.Postponed > 0 && time.Since(j.Queued) > s.cfg.Expire:
		return fmt.Sprintf("nobody could begin with it within %v: %s", s.cfg.Expire, r.Why)
	}
	return ""
}

// keepBusy renews the lease until it is stopped.
func (s *Service) keepBusy(ctx context.Context, d Delivery) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(s.cfg.Queue.Lease() / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				// If it fails, the job may come again: at least once.
				if err := d.Busy(ctx); err != nil && ctx.Err() == nil {
					s.cfg.Logger.Warn("renew lease", slog.Any("error", err))
				}
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

// settle writes down how an attempt ended.
func (s *Service) settle(ctx context.Context, d Delivery, j *Job, r *record, revision uint64, a *inprocess.Answer) error {
	policy := s.policyOf(j.Function)
	base, most := time.Duration(policy.BaseMS)*time.Millisecond, time.Duration(policy.CapMS)*time.Millisecond
	r.keep(a)
	switch {
	case !a.Failed():
		return s.finish(ctx, d, r, revision)
	case a.NotStarted():
		r.Postponed++
		r.Why = a.Fault()
		return s.again(ctx, d, r, revision, pause.Backoff(base, most, r.Postponed))
	case r.Attempts+1 >= policy.Attempts:
		r.Attempts++
		return s.bury(ctx, d, j, r, revision, fmt.Sprintf("attempt %d of %d: %s", r.Attempts, policy.Attempts, a.Fault()))
	}
	r.Attempts++
	r.Postponed = 0
	r.Why = fmt.Sprintf("attempt %d of %d: %s", r.Attempts, policy.Attempts, a.Fault())
	return s.again(ctx, d, r, revision, pause.Backoff(base, most, r.Attempts))
}

// finish keeps the answer and is done.
func (s *Service) finish(ctx context.Context, d Delivery, r *record, revision uint64) error {
	r.Attempts++
	r.State, r.Why = api.AsyncDone, ""
	if err := s.end(ctx, r, revision, s.cfg.Keep); err != nil {
		return err
	}
	return d.Done(ctx)
}

// end writes a last state, without the answer's body if the store does not
// take it.
func (s *Service) end(ctx context.Context, r *record, revision uint64, ttl time.Duration) error {
	r.Changed = time.Now()
	err := s.insist(ctx, r, revision, ttl)
	if errors.Is(err, ErrTooLarge) {
		r.body, r.TooLarge = nil, true
		err = s.insist(ctx, r, revision, ttl)
	}
	if errors.Is(err, ErrStale) {
		return nil // another boss has taken over
	}
	return err
}

// again lets the job wait for its next attempt.
func (s *Service) again(ctx context.Context, d Delivery, r *record, revision uint64, after time.Duration) error {
	r.State, r.Changed = api.AsyncRetrying, time.Now()
	if r.Attempts == 0 {
		r.State = api.AsyncQueued
	}
	r.body, r.Header, r.Bytes, r.TooLarge = nil, nil, 0, false
	err := s.insist(ctx, r, revision, 0)
	if errors.Is(err, ErrStale) {
		return nil
	}
	if err != nil {
		return err
	}
	return d.Later(ctx, after)
}

// tries is how often the state after an attempt is written: what ran should not
// run again because the store elects a leader meanwhile.
const tries = 5

// insist writes the state of a job, and does not give up at once.
func (s *Service) insist(ctx context.Context, r *record, revision uint64, ttl time.Duration) error {
	for n := 1; ; n++ {
		_, err := s.save(ctx, r, revision, ttl)
		if err == nil || n == tries || errors.Is(err, ErrStale) || errors.Is(err, ErrTooLarge) {
			return err
		}
		pause.For(ctx, storePause)
	}
}

// handBack gives a job that was cut short to the other bosses.
func (s *Service) handBack(ctx context.Context, d Delivery, r *record, revision uint64) error {
	r.Why = "the boss that ran it was stopped"
	return s.again(ctx, d, r, revision, 0)
}

// bury puts a job into the dead-letter list: first its request, then its state.
func (s *Service) bury(ctx context.Context, d Delivery, j *Job, r *record, revision uint64, why string) error {
	key := deadPrefix + j.ID
	store, cancel := s.brief(ctx)
	defer cancel()
	_, last, err := s.cfg.States.Get(store, key)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("bury %s: %w", j.ID, err)
	}
	if _, err := s.cfg.States.Put(store, key, d.Work(), last, s.cfg.KeepDead); err != nil && !errors.Is(err, ErrStale) {
		return fmt.Errorf("bury %s: %w", j.ID, err)
	}
	r.State, r.Why = api.AsyncDead, why
	if err := s.end(ctx, r, revision, s.cfg.KeepDead); err != nil {
		return err
	}
	s.cfg.Logger.Warn("asynchronous invocation given up", slog.String("function", j.Function), slog.String("id", j.ID), slog.String("why", why))
	return d.Done(ctx)
}

// policyOf is what holds for a lambda.
func (s *Service) policyOf(name string) lambda.Async { return s.cfg.Retry(name).Inherit(s.cfg.Default) }
