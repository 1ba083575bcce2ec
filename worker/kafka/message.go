package kafka

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/inprocess"
	"github.com/open-lambda/open-lambda/src/pause"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Headers of an invocation for a message, and of its answer.
const (
	HeaderTopic     = "X-Kafka-Topic"
	HeaderPartition = "X-Kafka-Partition"
	HeaderOffset    = "X-Kafka-Offset"
	HeaderGroup     = "X-Kafka-Group-Id"
	// HeaderSeek in an answer is the offset of the message to be handled next.
	HeaderSeek = "X-Kafka-Seek-Offset"
)

type (
	commitRequest  = kmsg.OffsetCommitRequest
	commitResponse = kmsg.OffsetCommitResponse
)

// offsets are the next ones by topic and partition.
type offsets map[string]map[int32]kgo.EpochOffset

func (o offsets) add(p partition, next int64) {
	if o[p.topic] == nil {
		o[p.topic] = map[int32]kgo.EpochOffset{}
	}
	o[p.topic][p.id] = kgo.EpochOffset{Epoch: -1, Offset: next}
}

// commitFault is the first error of a commit.
func commitFault(resp *commitResponse, err error) error {
	if err != nil || resp == nil {
		return err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("partition %d of %s: %w", p.Partition, t.Topic, err)
			}
		}
	}
	return nil
}

// outcome is how far a partition has come.
type outcome struct {
	next   int64 // offset of the message to be handled next
	jump   bool  // it is not the one behind the batch
	failed *part // its handling failed; nil: it did not
}

// inOrder handles the messages of one partition until one fails, the lambda
// asks for another offset, or the time is over.
func (c *consumer) inOrder(ctx context.Context, records []*kgo.Record, before *part, end time.Time) outcome {
	for i, r := range records {
		if ctx.Err() != nil || (i > 0 && time.Now().After(end)) {
			return outcome{next: r.Offset, jump: true}
		}
		failures := 0
		if before != nil && before.offset == r.Offset {
			failures = before.failures
		}
		a, err := c.handle(ctx, r)
		switch {
		case ctx.Err() != nil && (err != nil || a.Failed()):
			return outcome{next: r.Offset, jump: true}
		case err != nil || a.Failed():
			if o, again := c.failed(r, failures+1, fault(a, err)); again {
				return o
			}
		default:
			if to, ok := c.seek(r, a.Header.Get(HeaderSeek)); ok {
				return outcome{next: to, jump: true}
			}
		}
	}
	return outcome{next: records[len(records)-1].Offset + 1}
}

func fault(a *inprocess.Answer, err error) string {
	if err != nil {
		return err.Error()
	}
	return a.Fault()
}

// failed decides whether a message is handled again; false: it is given up.
func (c *consumer) failed(r *kgo.Record, failures int, why string) (outcome, bool) {
	at := []any{slog.String("topic", r.Topic), slog.Int("partition", int(r.Partition)), slog.Int64("offset", r.Offset), slog.String("why", why)}
	if c.retry.Attempts > 0 && failures >= c.retry.Attempts {
		c.log.Error("Kafka message given up", append(at, slog.Int("attempts", failures))...)
		return outcome{}, false
	}
	c.log.Warn("Kafka message failed", append(at, slog.Int("attempts", failures))...)
	until := time.Now().Add(pause.Backoff(c.retry.Base, c.retry.Cap, failures))
	return outcome{next: r.Offset, jump: true, failed: &part{r.Offset, failures, until}}, true
}

// handle invokes the lambda for a message.
func (c *consumer) handle(ctx context.Context, r *kgo.Record) (*inprocess.Answer, error) {
	return inprocess.Call(ctx, c.run, inprocess.Request{
		Method: http.MethodPost, Target: api.PathRun + c.name + "/", Host: "kafka", Body: r.Value,
		Header: http.Header{
			api.HeaderTrigger: {api.TriggerKafka}, HeaderTopic: {r.Topic}, HeaderPartition: {strconv.Itoa(int(r.Partition))},
			HeaderOffset: {strconv.FormatInt(r.Offset, 10)}, HeaderGroup: {group(c.name)},
		},
	}, 0)
}

// seek is the offset that an answer asks for, if it does.
func (c *consumer) seek(r *kgo.Record, text string) (int64, bool) {
	if text == "" {
		return 0, false
	}
	to, err := strconv.ParseInt(text, 10, 64)
	if err != nil || to < 0 {
		c.log.Warn("understand the offset to seek", slog.String("value", text))
		return 0, false
	}
	return to, to != r.Offset+1
}
