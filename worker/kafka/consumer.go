package kafka

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Times of a consumer.
const (
	batchTime = 5 * time.Second // after which the rest of a batch is left for the next one
	batchMost = 100             // messages of a batch
	// rebalanceTime is how long Kafka waits for a member in a rebalance: longer
	// than a batch and the message that is being handled then.
	rebalanceTime = 2 * time.Minute
	commitTime    = 5 * time.Second
)

// Retry says when a message that failed is handled again.
type Retry struct {
	Base, Cap time.Duration // pause after the first failure in a row, doubled each time up to Cap
	Attempts  int           // after which a message is given up; 0: never
}

// consumer is one trigger of one lambda.
type consumer struct {
	name   string
	run    http.Handler
	retry  Retry
	log    *slog.Logger
	client *kgo.Client

	parts map[partition]*part // of those that failed

	mu sync.Mutex // rebalances come from another goroutine
	// pending is what is not committed yet: a commit fails while the group
	// rebalances.
	pending offsets
}

type partition struct {
	topic string
	id    int32
}

// part is a partition whose message failed.
type part struct {
	offset   int64 // of the message
	failures int   // in a row
	until    time.Time
}

// group is the consumer group of a lambda.
func group(name string) string { return "lambda-" + name }

// newConsumer makes one; run must be called, and closes it. Kafka need not be
// reachable yet.
func newConsumer(name string, t lambda.KafkaTrigger, run http.Handler, retry Retry, log *slog.Logger) (*consumer, error) {
	reset := kgo.NewOffset().AtEnd()
	if t.AutoOffsetReset == "earliest" {
		reset = kgo.NewOffset().AtStart()
	}
	c := &consumer{name: name, run: run, retry: retry, log: log.With(slog.String("function", name)), parts: map[partition]*part{}, pending: offsets{}}
	gone := func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { c.forget(lost) }
	client, err := kgo.NewClient(
		kgo.SeedBrokers(t.BootstrapServers...), kgo.ConsumerGroup(group(name)), kgo.ConsumeTopics(t.Topics...),
		kgo.ConsumeResetOffset(reset), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(), kgo.RebalanceTimeout(rebalanceTime),
		kgo.ClientID("openlambda"), kgo.FetchMaxWait(time.Second), kgo.OnPartitionsRevoked(gone), kgo.OnPartitionsLost(gone),
	)
	if err != nil {
		return nil, fmt.Errorf("make Kafka consumer of %s: %w", name, err)
	}
	c.client = client
	return c, nil
}

// forget drops what was not committed of partitions that others have now: it
// would set them back.
func (c *consumer) forget(lost map[string][]int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for topic, ids := range lost {
		for _, id := range ids {
			delete(c.pending[topic], id)
		}
	}
}

// work consumes until ctx ends, and leaves the group.
func (c *consumer) work(ctx context.Context) {
	defer c.client.CloseAllowingRebalance()
	trouble := false
	for ctx.Err() == nil {
		fetches := c.poll(ctx)
		if err := fetches.Err0(); err != nil && ctx.Err() == nil {
			if !trouble {
				c.log.Warn("fetch from Kafka", slog.Any("error", err))
			}
			trouble = true
		} else {
			trouble = false
		}
		c.batch(ctx, fetches)
		c.client.AllowRebalance()
	}
}

// poll waits for messages, or until a partition that failed may go on.
func (c *consumer) poll(ctx context.Context) kgo.Fetches {
	wait := batchTime
	now := time.Now()
	for p, s := range c.parts {
		if s.until.IsZero() {
			continue
		}
		if left := s.until.Sub(now); left > 0 {
			wait = min(wait, left)
			continue
		}
		s.until = time.Time{}
		c.client.ResumeFetchPartitions(map[string][]int32{p.topic: {p.id}})
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	fetches := c.client.PollRecords(ctx, batchMost)
	if ctx.Err() != nil && fetches.NumRecords() == 0 {
		return nil // its error is the time that is over
	}
	return fetches
}

// batch handles what was fetched, partitions side by side, and commits.
func (c *consumer) batch(ctx context.Context, fetches kgo.Fetches) {
	var mu sync.Mutex
	done := map[partition]outcome{}
	end := time.Now().Add(batchTime)
	var wg sync.WaitGroup
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if len(p.Records) == 0 {
			return
		}
		id := partition{p.Topic, p.Partition}
		before := c.parts[id]
		wg.Go(func() {
			o := c.inOrder(ctx, p.Records, before, end)
			mu.Lock()
			defer mu.Unlock()
			done[id] = o
		})
	})
	wg.Wait()
	c.move(done)
}

// move takes the consumer's positions to where its partitions have come, and
// commits them.
func (c *consumer) move(done map[partition]outcome) {
	seek := offsets{}
	for id, o := range done {
		c.mu.Lock()
		c.pending.add(id, o.next)
		c.mu.Unlock()
		if o.jump {
			seek.add(id, o.next)
		}
		if o.failed == nil {
			delete(c.parts, id)
			continue
		}
		c.parts[id] = o.failed
		c.client.PauseFetchPartitions(map[string][]int32{id.topic: {id.id}})
	}
	// Positions first: what was committed but not moved would be skipped.
	c.client.SetOffsets(seek)
	c.commit()
}

// commit tells Kafka where the group is, and is tried again after every poll
// until that succeeds. If it never does, whoever comes next handles again what
// was not committed.
func (c *consumer) commit() {
	to := c.uncommitted()
	if len(to) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), commitTime)
	defer cancel()
	var fault error
	c.client.CommitOffsetsSync(ctx, to, func(_ *kgo.Client, _ *commitRequest, resp *commitResponse, err error) {
		fault = commitFault(resp, err)
	})
	if fault != nil {
		c.log.Warn("commit Kafka offsets", slog.Any("error", fault))
		return
	}
	// No rebalance comes between a poll and the end of its batch.
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = offsets{}
}

// uncommitted is a copy of what is pending.
func (c *consumer) uncommitted() offsets {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := offsets{}
	for topic, ids := range c.pending {
		for id, at := range ids {
			out.add(partition{topic, id}, at.Offset)
		}
	}
	return out
}
