package dispatch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// sleep is the frozen state of one sandbox.
type sleep struct {
	mu     sync.Mutex // held during the mechanism's call; never under Dispatcher.mu
	frozen bool
	gone   bool // being destroyed: the mechanism thaws as it needs

	queue struct { // guarded by freezer.mu
		waiting bool
		since   time.Time
	}
}

// retire ends freezing and thawing.
func (s *sleep) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
}

// awake thaws the sandbox if it is frozen. The caller has counted itself in
// b.running before, so that the freezer leaves the box alone afterwards.
func (b *box) awake() error {
	b.sleep.mu.Lock()
	defer b.sleep.mu.Unlock()
	if !b.sleep.frozen {
		return nil
	}
	if err := b.sb.SetFrozen(false); err != nil {
		return err
	}
	b.sleep.frozen = false
	b.note(api.EventThaw)
	return nil
}

// doze freezes the sandbox unless somebody uses it.
func (b *box) doze() error {
	b.sleep.mu.Lock()
	defer b.sleep.mu.Unlock()
	if b.sleep.gone || b.sleep.frozen || b.running.Load() > 0 || b.exited() {
		return nil
	}
	if err := b.sb.SetFrozen(true); err != nil {
		return err
	}
	b.sleep.frozen = true
	b.note(api.EventFreeze)
	return nil
}

// freezer freezes sandboxes that have been idle for the grace. A box that is
// used again and again stays in its queue once: a closed loop pays nothing.
type freezer struct {
	grace time.Duration
	wake  chan struct{}

	mu    sync.Mutex
	queue []*box // by time of entry
}

func newFreezer(grace time.Duration) *freezer {
	return &freezer{grace: grace, wake: make(chan struct{}, 1)}
}

// rest says that a box may have come idle.
func (d *Dispatcher) rest(b *box) {
	if d.freeze.grace < 0 || b.running.Load() > 0 {
		return
	}
	d.freeze.add(b, time.Now())
}

func (f *freezer) add(b *box, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b.sleep.queue.since = now
	if b.sleep.queue.waiting {
		return
	}
	b.sleep.queue.waiting = true
	f.queue = append(f.queue, b)
	if len(f.queue) == 1 {
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
}

// next takes the boxes whose grace is over, and says when to look again.
func (f *freezer) next(now time.Time, due []*box) ([]*box, time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	keep := f.queue[:0]
	wait := time.Duration(-1)
	for _, b := range f.queue {
		left := f.grace - now.Sub(b.sleep.queue.since)
		switch {
		case left <= 0 || b.running.Load() > 0:
			b.sleep.queue.waiting = false
			if left <= 0 {
				due = append(due, b)
			}
		default:
			keep = append(keep, b)
			if wait < 0 || left < wait {
				wait = left
			}
		}
	}
	clear(f.queue[len(keep):])
	f.queue = keep
	return due, wait
}

func (f *freezer) run(ctx context.Context, log *slog.Logger) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var due []*box
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		case <-timer.C:
		}
		var wait time.Duration
		due, wait = f.next(time.Now(), due[:0])
		for _, b := range due {
			if err := b.doze(); err != nil {
				log.LogAttrs(ctx, slog.LevelWarn, "freeze sandbox", slog.String("sandbox", b.spec.ID), slog.Any("error", err))
			}
		}
		clear(due)
		if wait >= 0 {
			// Looking at most ten times in a grace bounds the work for many.
			timer.Reset(max(wait, f.grace/10))
		}
	}
}
