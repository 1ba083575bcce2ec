package jetstream

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/open-lambda/open-lambda/boss/registry"
)

// keyOf encodes a lambda's name, which may have dots where NATS allows none.
func keyOf(name string) string { return base64.RawURLEncoding.EncodeToString([]byte(name)) }

func nameOf(key string) (string, bool) {
	name, err := base64.RawURLEncoding.DecodeString(key)
	return string(name), err == nil
}

// Put is part of registry.Meta.
func (s *Store) Put(ctx context.Context, name string, value []byte, last uint64) (uint64, error) {
	kv, err := s.metaOf(ctx)
	if err != nil {
		return 0, err
	}
	var revision uint64
	switch last {
	case registry.Any:
		revision, err = kv.Put(ctx, keyOf(name), value)
	case 0:
		revision, err = kv.Create(ctx, keyOf(name), value)
	default:
		revision, err = kv.Update(ctx, keyOf(name), value, last)
	}
	return revision, translate(err)
}

// Delete is part of registry.Meta.
func (s *Store) Delete(ctx context.Context, name string, last uint64) error {
	kv, err := s.metaOf(ctx)
	if err != nil {
		return err
	}
	var opts []jetstream.KVDeleteOpt
	if last != registry.Any {
		opts = append(opts, jetstream.LastRevision(last))
	}
	return translate(kv.Delete(ctx, keyOf(name), opts...))
}

// translate finds out whether a write came too late.
func translate(err error) error {
	if errors.Is(err, jetstream.ErrKeyExists) || stale(err) {
		return registry.ErrStale
	}
	return err
}

// stale tells whether a write expected another revision than there was.
func stale(err error) bool {
	var e *jetstream.APIError
	return errors.As(err, &e) &&
		(e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// watchLimit is how long a watch may take to begin.
const watchLimit = 2 * time.Second

// Watch is part of registry.Meta.
func (s *Store) Watch(ctx context.Context) (<-chan registry.Change, error) {
	begin, cancel := context.WithTimeout(ctx, watchLimit)
	defer cancel()
	kv, err := s.metaOf(begin)
	if err != nil {
		return nil, err
	}
	w, err := kv.WatchAll(ctx)
	if err != nil {
		return nil, fmt.Errorf("watch store: %w", err)
	}
	out := make(chan registry.Change)
	// It ends with ctx, and the receiver sees the channel closed.
	go pump(ctx, w, out)
	return out, nil
}

func pump(ctx context.Context, w jetstream.KeyWatcher, out chan<- registry.Change) {
	defer close(out)
	defer func() { _ = w.Stop() }() // the connection may be gone, and the watch with it
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok {
				return
			}
			c, ok := changeOf(e)
			if !ok {
				continue
			}
			select {
			case out <- c:
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// changeOf translates an entry; nil means that all has been sent. false: the
// key is not one of ours.
func changeOf(e jetstream.KeyValueEntry) (registry.Change, bool) {
	if e == nil {
		return registry.Change{}, true
	}
	name, ok := nameOf(e.Key())
	c := registry.Change{Name: name, Revision: e.Revision()}
	if e.Operation() == jetstream.KeyValuePut {
		c.Value = e.Value()
	}
	return c, ok && name != ""
}
