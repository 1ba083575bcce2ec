package jetstream

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/open-lambda/open-lambda/boss/registry"
)

// watchLimit is how long a watch may take to begin.
const watchLimit = 2 * time.Second

// Watch is part of registry.Meta. In a group the entries may come from a store
// that lags behind, as that of a boss which was started a moment ago: they are
// all there once the last one is that of the store which leads.
func (s *Store) Watch(ctx context.Context) (<-chan registry.Change, error) {
	begin, cancel := context.WithTimeout(ctx, watchLimit)
	defer cancel()
	kv, err := s.metaOf(begin)
	if err != nil {
		return nil, err
	}
	last, err := lastRevision(begin, kv)
	if err != nil {
		return nil, err
	}
	w, err := kv.WatchAll(ctx)
	if err != nil {
		return nil, fmt.Errorf("watch store: %w", err)
	}
	out := make(chan registry.Change)
	// It ends with ctx, and the receiver sees the channel closed.
	go pump(ctx, w, last, out)
	return out, nil
}

// lastRevision asks the store that leads for its newest entry; 0: it has none.
func lastRevision(ctx context.Context, kv jetstream.KeyValue) (uint64, error) {
	info, err := infoOf(ctx, kv)
	if err != nil || info.State.Msgs == 0 {
		return 0, err
	}
	return info.State.LastSeq, nil
}

func infoOf(ctx context.Context, kv jetstream.KeyValue) (*jetstream.StreamInfo, error) {
	status, err := kv.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask store for its state: %w", err)
	}
	bucket, ok := status.(*jetstream.KeyValueBucketStatus)
	if !ok {
		return nil, fmt.Errorf("ask store for its state: it answered with a %T", status)
	}
	return bucket.StreamInfo(), nil
}

// Epoch is part of registry.Meta.
func (s *Store) Epoch(ctx context.Context) (uint64, error) {
	kv, err := s.metaOf(ctx)
	if err != nil {
		return 0, err
	}
	info, err := infoOf(ctx, kv)
	if err != nil {
		return 0, err
	}
	return uint64(info.Created.UnixNano()), nil
}

// pump passes on what a watch finds. That everything was sent it says once the
// watch says so and the entry with the revision last has been seen.
func pump(ctx context.Context, w jetstream.KeyWatcher, last uint64, out chan<- registry.Change) {
	defer close(out)
	defer func() { _ = w.Stop() }() // the connection may be gone, and the watch with it
	p := progress{last: last}
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok || !p.take(ctx, e, out) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// progress is how far a watch has come.
type progress struct {
	last, seen    uint64 // revisions
	listed, whole bool   // the watch said that it has sent all; so have we
}

// take passes on an entry, nil for the end of the list. false: ctx has ended.
func (p *progress) take(ctx context.Context, e jetstream.KeyValueEntry, out chan<- registry.Change) bool {
	if e == nil {
		p.listed = true
	} else {
		p.seen = max(p.seen, e.Revision())
		if c, ok := changeOf(e); ok && !send(ctx, c, out) {
			return false
		}
	}
	if p.whole || !p.listed || p.seen < p.last {
		return true
	}
	p.whole = true
	return send(ctx, registry.Change{}, out)
}

func send(ctx context.Context, c registry.Change, out chan<- registry.Change) bool {
	select {
	case out <- c:
		return true
	case <-ctx.Done():
		return false
	}
}

// changeOf translates an entry. false: the key is not one of ours.
func changeOf(e jetstream.KeyValueEntry) (registry.Change, bool) {
	name, ok := nameOf(e.Key())
	c := registry.Change{Name: name, Revision: e.Revision()}
	if e.Operation() == jetstream.KeyValuePut {
		c.Value = e.Value()
	}
	return c, ok && name != ""
}
