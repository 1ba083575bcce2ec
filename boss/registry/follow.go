package registry

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// again is how long Follow waits before it asks a lost store again.
const again = 500 * time.Millisecond

// Follow keeps the memory like the store until ctx ends, and tells changed
// the names of lambdas that were changed or removed. It also sweeps code that
// no lambda names any more.
func (r *Registry) Follow(ctx context.Context, changed func(names []string)) {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { r.tell(ctx, changed) })
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for ctx.Err() == nil {
		err := r.follow(ctx, sweep.C)
		if ctx.Err() != nil {
			return
		}
		r.setFault(err)
		r.cfg.Logger.Warn("registry's store is out of reach", slog.Any("error", err))
		select {
		case <-time.After(again):
		case <-ctx.Done():
		}
	}
}

func (r *Registry) setFault(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = err
}

var errWatchEnded = errors.New("the store ended the watch")

// follow watches the store once.
func (r *Registry) follow(ctx context.Context, sweep <-chan time.Time) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := r.askEpoch(ctx); err != nil {
		return err
	}
	p := progress{before: r.revisions()}
	changes, err := r.cfg.Meta.Watch(ctx)
	if err != nil {
		return err
	}
	for {
		select {
		case <-sweep:
			if err := r.Sweep(ctx, sweepAge); err != nil {
				r.cfg.Logger.Warn("sweep code", slog.Any("error", err))
			}
		case c, ok := <-changes:
			if !ok {
				return errWatchEnded
			}
			r.advance(&p, c)
		}
	}
}

// progress is how far a watch has come.
type progress struct {
	before map[string]uint64 // what was known before, and has not been sent
	newest uint64            // revision
	whole  bool              // everything that was there has been sent
}

// advance takes over what a watch has sent.
func (r *Registry) advance(p *progress, c Change) {
	if c.Name == "" {
		r.complete(p.before)
		p.before, p.whole = nil, true
	} else {
		delete(p.before, c.Name)
		r.take(c)
		p.newest = max(p.newest, c.Revision)
	}
	if p.whole {
		r.caughtUp(p.newest)
	}
}

// revisions are those of the lambdas that are known.
func (r *Registry) revisions() map[string]uint64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make(map[string]uint64, len(r.all))
	for name, f := range r.all {
		all[name] = f.Revision
	}
	return all
}

// complete drops what was known before the watch and has not been sent: it was
// removed while nobody watched.
func (r *Registry) complete(unsent map[string]uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, revision := range unsent {
		if r.all[name].Revision == revision {
			r.gone[name] = revision
			delete(r.all, name)
			r.move(name)
		}
	}
	r.fault = nil
	select {
	case <-r.synced:
	default:
		close(r.synced)
	}
}

// take takes over one change.
func (r *Registry) take(c Change) {
	if c.Value == nil {
		r.unsee(c.Name, c.Revision)
		return
	}
	var f api.Function
	if err := json.Unmarshal(c.Value, &f); err != nil {
		r.cfg.Logger.Warn("understand entry", slog.String("function", c.Name), slog.Any("error", err))
		return
	}
	f.Name, f.Revision = c.Name, c.Revision
	r.see(f)
}

// Times of sweeping: code that no lambda names goes once every worker that was
// about to fetch it has done so.
const (
	sweepEvery = 10 * time.Minute
	sweepAge   = time.Hour
)

// Sweep removes code that no lambda names and that is older than age. It does
// nothing before everything in the store was seen.
func (r *Registry) Sweep(ctx context.Context, age time.Duration) error {
	select {
	case <-r.synced:
	default:
		return nil
	}
	stored, err := r.cfg.Code.List(ctx)
	if err != nil {
		return err
	}
	used := map[string]bool{}
	r.mu.RLock()
	for _, f := range r.all {
		used[f.Digest] = true
	}
	r.mu.RUnlock()
	for _, s := range stored {
		if used[s.Digest] || s.AgeSeconds < age.Seconds() {
			continue
		}
		if err := r.cfg.Code.Delete(ctx, s.Digest); err != nil {
			return err
		}
	}
	return nil
}
