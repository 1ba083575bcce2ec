package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/open-lambda/open-lambda/boss/async"
)

// States is an async.States: a stream with one message for each key. It is read
// where it is written, so that whoever has written finds it.
type States struct {
	store  *Store
	stream *reached[jetstream.Stream]
}

// States makes the states of asynchronous invocations.
func (s *Store) States() *States { return &States{store: s, stream: newReached[jetstream.Stream]()} }

// Names of the states.
const (
	statesStream  = "ol_async_states"
	statesSubject = "ol.async.state."
)

func (s *States) reach(ctx context.Context) (jetstream.Stream, error) {
	return s.stream.get(ctx, func() (jetstream.Stream, error) {
		return s.store.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: statesStream, Description: "states of asynchronous invocations", Subjects: []string{statesSubject + ">"},
			MaxMsgsPerSubject: 1, AllowMsgTTL: true, Discard: jetstream.DiscardNew, Storage: jetstream.FileStorage,
			Replicas: s.store.cfg.replicas(),
		})
	})
}

// Get is part of async.States.
func (s *States) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	stream, err := s.reach(ctx)
	if err != nil {
		return nil, 0, err
	}
	m, err := stream.GetLastMsgForSubject(ctx, statesSubject+key)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, 0, async.ErrNotFound
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read store: %w", err)
	}
	return m.Data, m.Sequence, nil
}

// Put is part of async.States.
func (s *States) Put(ctx context.Context, key string, value []byte, last uint64, ttl time.Duration) (uint64, error) {
	if _, err := s.reach(ctx); err != nil {
		return 0, err
	}
	opts := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(last)}
	if ttl > 0 {
		opts = append(opts, jetstream.WithMsgTTL(max(ttl.Round(time.Second), time.Second)))
	}
	ack, err := s.store.js.PublishMsg(ctx, &nats.Msg{Subject: statesSubject + key, Data: value}, opts...)
	if stale(err) {
		return 0, async.ErrStale
	}
	if err != nil {
		return 0, translateFull(err)
	}
	return ack.Sequence, nil
}

// Delete is part of async.States.
func (s *States) Delete(ctx context.Context, key string, last uint64) error {
	stream, err := s.reach(ctx)
	if err != nil {
		return err
	}
	_, revision, err := s.Get(ctx, key)
	if errors.Is(err, async.ErrNotFound) || (err == nil && revision != last) {
		return async.ErrStale
	}
	if err != nil {
		return err
	}
	// What is written meanwhile has another sequence.
	if err := stream.DeleteMsg(ctx, last); errors.Is(err, jetstream.ErrMsgNotFound) || errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
		return async.ErrStale
	} else if err != nil {
		return fmt.Errorf("remove from store: %w", err)
	}
	return nil
}

// List is part of async.States.
func (s *States) List(ctx context.Context, prefix string) ([]string, error) {
	stream, err := s.reach(ctx)
	if err != nil {
		return nil, err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(statesSubject+prefix+">"))
	if err != nil {
		return nil, fmt.Errorf("list store: %w", err)
	}
	var all []string
	for subject := range info.State.Subjects {
		all = append(all, strings.TrimPrefix(subject, statesSubject))
	}
	return all, nil
}
