package ahead

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// idleTime is how long none must have been taken for others to be made.
const idleTime = 30 * time.Millisecond

// Filler fills a stock up whenever nobody takes from it.
type Filler struct {
	what string
	more func() (bool, error)
	log  *slog.Logger
	wake chan struct{} // capacity 1: there may be something to make

	mu   sync.Mutex
	last time.Time // when one was taken
}

// New returns a filler of a stock of what is named, for logs. more makes a few,
// and says whether it did: false if there are enough.
func New(what string, more func() (bool, error), log *slog.Logger) *Filler {
	f := &Filler{what: what, more: more, log: log, wake: make(chan struct{}, 1)}
	f.poke()
	return f
}

// Taken notes that one is being taken.
func (f *Filler) Taken() {
	f.mu.Lock()
	f.last = time.Now()
	f.mu.Unlock()
	f.poke()
}

func (f *Filler) poke() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// rest says how long to wait until the stock counts as idle.
func (f *Filler) rest() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return idleTime - time.Since(f.last)
}

// Run fills the stock up, at first and each time after some were taken, until
// ctx ends.
func (f *Filler) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		}
		for f.idle(ctx) && f.step() {
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// idle waits until nobody takes any; false if ctx ends first.
func (f *Filler) idle(ctx context.Context) bool {
	for rest := f.rest(); rest > 0; rest = f.rest() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(rest):
		}
	}
	return ctx.Err() == nil
}

// step makes a few; false if there are enough, or it cannot.
func (f *Filler) step() bool {
	made, err := f.more()
	if err != nil {
		f.log.Warn("cannot fill stock", slog.String("of", f.what), slog.Any("error", err))
	}
	return made && err == nil
}
