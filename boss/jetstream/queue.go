package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/open-lambda/open-lambda/boss/async"
)

// QueueConfig bounds a queue.
type QueueConfig struct {
	Limit int           // items; 0: 10,000
	Bytes int64         // of all items; 0: 1 GB
	Lease time.Duration // see async.Queue; 0: 15 s
}

// Queue is an async.Queue: a stream from which what is done is removed.
type Queue struct {
	store    *Store
	cfg      QueueConfig
	stream   *reached[jetstream.Stream]
	consumer *reached[jetstream.Consumer]
}

// Queue makes a queue. The bounds of the boss that reached the store last hold
// for all.
func (s *Store) Queue(cfg QueueConfig) *Queue {
	if cfg.Limit <= 0 {
		cfg.Limit = 10_000
	}
	if cfg.Bytes <= 0 {
		cfg.Bytes = 1 << 30
	}
	if cfg.Lease <= 0 {
		cfg.Lease = 15 * time.Second
	}
	return &Queue{store: s, cfg: cfg, stream: newReached[jetstream.Stream](), consumer: newReached[jetstream.Consumer]()}
}

// Names of the queue.
const (
	queueStream  = "ol_async"
	queueSubject = "ol.async.work"
	queueReader  = "bosses"
)

// dedupWindow is how long ids are known.
const dedupWindow = 2 * time.Minute

func (q *Queue) reach(ctx context.Context) (jetstream.Stream, error) {
	return q.stream.get(ctx, func() (jetstream.Stream, error) {
		return q.store.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: queueStream, Description: "asynchronous invocations that are not done", Subjects: []string{queueSubject},
			Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew, Storage: jetstream.FileStorage,
			MaxMsgs: int64(q.cfg.Limit), MaxBytes: q.cfg.Bytes, Duplicates: dedupWindow, Replicas: q.store.cfg.replicas(),
		})
	})
}

func (q *Queue) reader(ctx context.Context) (jetstream.Consumer, error) {
	stream, err := q.reach(ctx)
	if err != nil {
		return nil, err
	}
	return q.consumer.get(ctx, func() (jetstream.Consumer, error) {
		return stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: queueReader, AckPolicy: jetstream.AckExplicitPolicy, AckWait: q.cfg.Lease, MaxDeliver: -1,
			MaxAckPending: -1, // those that wait for another attempt are pending too
		})
	})
}

// Lease is part of async.Queue.
func (q *Queue) Lease() time.Duration { return q.cfg.Lease }

// Put is part of async.Queue.
func (q *Queue) Put(ctx context.Context, id string, work []byte) error {
	if _, err := q.reach(ctx); err != nil {
		return err
	}
	_, err := q.store.js.Publish(ctx, queueSubject, work, jetstream.WithMsgID(id))
	return translateFull(err)
}

// storeFailed is the code of a write that a stream's bounds do not allow, see
// errors.json of nats-server.
const storeFailed jetstream.ErrorCode = 10077

// translateFull finds out whether there was no room.
func translateFull(err error) error {
	var e *jetstream.APIError
	switch {
	case errors.Is(err, nats.ErrMaxPayload):
		return async.ErrTooLarge
	case errors.As(err, &e) && e.ErrorCode == storeFailed:
		return errors.Join(async.ErrFull, err)
	case errors.As(err, &e) && e.ErrorCode == jetstream.JSErrCodeStreamMessageExceedsMaximum:
		return async.ErrTooLarge
	}
	return err
}

// takeLimit is how long one Take waits at most.
const takeLimit = 10 * time.Second

// Take is part of async.Queue.
func (q *Queue) Take(ctx context.Context) (async.Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, takeLimit)
	defer cancel()
	reader, err := q.reader(ctx)
	if err != nil {
		return nil, err
	}
	batch, err := reader.Fetch(1, jetstream.FetchContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("take from queue: %w", err)
	}
	for m := range batch.Messages() {
		return delivery{m}, nil
	}
	if err := batch.Error(); err != nil && ctx.Err() == nil && !errors.Is(err, nats.ErrTimeout) {
		return nil, fmt.Errorf("take from queue: %w", err)
	}
	return nil, nil
}

// ackLimit is how long the server may take to confirm that work is done.
const ackLimit = 3 * time.Second

// delivery is an async.Delivery.
type delivery struct{ m jetstream.Msg }

// Work is part of async.Delivery.
func (d delivery) Work() []byte { return d.m.Data() }

// Done is part of async.Delivery.
func (d delivery) Done(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ackLimit)
	defer cancel()
	if err := d.m.DoubleAck(ctx); err != nil && !errors.Is(err, nats.ErrTimeout) && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("remove from queue: %w", err)
	}
	return nil // if that went astray it comes again, and is found to be done
}

// Later is part of async.Delivery.
func (d delivery) Later(_ context.Context, after time.Duration) error {
	if err := d.m.NakWithDelay(after); err != nil {
		return fmt.Errorf("give back to queue: %w", err)
	}
	return nil
}

// Busy is part of async.Delivery.
func (d delivery) Busy(context.Context) error { return d.m.InProgress() }
