package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// stamp is api.HeaderStamp of a revision; "" while the epoch is not known.
func stamp(epoch, revision uint64) string {
	if epoch == 0 {
		return ""
	}
	return fmt.Sprintf("%016x%016x", epoch, revision)
}

// learnEpoch asks the store for its epoch if it is not known.
func (r *Registry) learnEpoch(ctx context.Context) error {
	r.mu.RLock()
	known := r.epoch != 0
	r.mu.RUnlock()
	if known {
		return nil
	}
	return r.askEpoch(ctx)
}

// askEpoch asks the store for its epoch. What is known of another store counts
// for nothing.
func (r *Registry) askEpoch(ctx context.Context) error {
	epoch, err := r.cfg.Meta.Epoch(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.epoch == epoch {
		return nil
	}
	for name := range r.all {
		r.move(name)
	}
	clear(r.all)
	clear(r.gone)
	r.epoch, r.seen = epoch, 0
	return nil
}

// move says that something has been seen of a lambda, or "" of them all. mu is
// held.
func (r *Registry) move(name string) {
	close(r.moved)
	r.moved = make(chan struct{})
	if name == "" {
		return
	}
	r.news[name] = true
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// tell tells changed about news until ctx ends.
func (r *Registry) tell(ctx context.Context, changed func(names []string)) {
	for {
		select {
		case <-r.wake:
		case <-ctx.Done():
			return
		}
		r.mu.Lock()
		names := slices.Sorted(maps.Keys(r.news))
		clear(r.news)
		r.mu.Unlock()
		if len(names) > 0 {
			changed(names)
		}
	}
}

// caughtUp notes up to which revision everything was seen.
func (r *Registry) caughtUp(revision uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if revision > r.seen {
		r.seen = revision
		r.move("")
	}
}

// freshness is the stamp of what is known of a lambda, or of its absence. mu is
// held.
func (r *Registry) freshness(name string) string {
	revision := max(r.seen, r.gone[name], r.all[name].Revision)
	return stamp(r.epoch, revision)
}

// errBehind: another boss knows something newer.
var errBehind = errors.New("this boss has not seen yet what another one has")

// awaitStamp waits until what is known of a lambda is as new as a stamp, for as
// long as it is better to wait than to ask another boss.
func (r *Registry) awaitStamp(ctx context.Context, name, least string) error {
	t := time.NewTimer(readPatience)
	defer t.Stop()
	for {
		r.mu.RLock()
		enough, moved := r.freshness(name) >= least, r.moved
		r.mu.RUnlock()
		if enough {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.C:
			return errBehind
		}
	}
}

// findSince is find for those who know something at least as new as a stamp;
// fresh is the stamp of the answer.
func (r *Registry) findSince(ctx context.Context, name, least string) (f api.Function, fresh string, err error) {
	if err := r.awaitStamp(ctx, name, least); err != nil {
		return api.Function{}, "", err
	}
	f, err = r.find(ctx, name)
	r.mu.RLock()
	defer r.mu.RUnlock()
	if err != nil {
		return f, r.freshness(name), err
	}
	return f, stamp(r.epoch, f.Revision), nil
}
