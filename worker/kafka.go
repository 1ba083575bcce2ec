package worker

import (
	"context"
	"errors"
	"time"

	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/worker/kafka"
	"github.com/open-lambda/open-lambda/worker/registry"
	"github.com/open-lambda/open-lambda/worker/server"
)

// openKafka makes what consumes for Kafka triggers.
func (w *Worker) openKafka(u *undoList) error {
	k, err := w.cfg.Settings.KafkaRetry()
	if err != nil {
		return err
	}
	m, err := kafka.New(kafka.Config{Triggers: w.kafkaTriggers, Run: w.server, Retry: kafkaRetry(k), Logger: w.cfg.Logger})
	if err != nil {
		return err
	}
	u.add(m.Close)
	w.functions.kafka = m
	w.server.Mount(kafka.Path, m.Handler(server.RefuseLambda))
	return nil
}

func kafkaRetry(k config.Kafka) kafka.Retry {
	return kafka.Retry{Base: millis(k.BaseMS), Cap: millis(k.CapMS), Attempts: k.MaxAttempts}
}

// lookupLimit is how long a lambda with a Kafka trigger may take to be found:
// its code may have to be fetched.
const lookupLimit = 30 * time.Second

// kafkaTriggers looks up what a lambda's ol.yaml says.
func (w *Worker) kafkaTriggers(ctx context.Context, name string) ([]lambda.KafkaTrigger, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	l, err := w.functions.Lookup(ctx, name, "")
	if err != nil {
		return nil, errors.Is(err, registry.ErrNotFound), err
	}
	return l.Config.Triggers.Kafka, false, nil
}

// Kafka is the word of a boss about whose consumers run here. It is part of
// link.Node.
func (w *Worker) Kafka(boss string, names []string, linked bool) {
	if linked {
		w.functions.kafka.Assign(boss, names)
	} else {
		w.functions.kafka.Unlinked(boss)
	}
}
