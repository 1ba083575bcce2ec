package boss

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"log/slog"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/src/pause"
)

// Times of the assignment of Kafka consumers.
const (
	assignEvery = time.Second     // how often it is looked at
	repeatEvery = 5 * time.Second // how often a worker is told what it knows: its link may be a new one
)

// told is what a worker was told last.
type told struct {
	names []string
	at    time.Time
}

// assignKafka tells workers whose Kafka consumers to run, until ctx ends. Every
// boss does, from the same table by the same rule; where two see different
// workers, more consumers than needed run for a while, and Kafka's consumer
// groups see to it that each message goes to one.
func (b *Boss) assignKafka(ctx context.Context) {
	last := map[string]told{}
	for pause.For(ctx, assignEvery) {
		lambdas := b.configs.kafka()
		if len(lambdas) == 0 && len(last) == 0 {
			continue
		}
		now := time.Now()
		for node, names := range spread(lambdas, b.upNodes(), b.cfg.KafkaWorkers) {
			t, known := last[node]
			if same := slices.Equal(t.names, names); (same && now.Sub(t.at) < repeatEvery) || (!known && len(names) == 0) {
				continue
			}
			if err := b.join.Notify(node, api.Notice{Kafka: &names}); err != nil {
				b.cfg.Logger.Debug("assign Kafka consumers", slog.String("worker", node), slog.Any("error", err))
				continue
			}
			last[node] = told{names, now}
			if len(names) == 0 {
				delete(last, node)
			}
		}
	}
}

// upNodes are the workers that take requests.
func (b *Boss) upNodes() []string {
	var up []string
	for _, n := range b.fleet.Nodes() {
		if n.State == "up" {
			up = append(up, n.Name)
		}
	}
	return up
}

// spread gives each lambda to so many workers at most, those that rank first
// for it (rendezvous hashing): if one goes, only its lambdas move.
func spread(lambdas, nodes []string, most int) map[string][]string {
	out := make(map[string][]string, len(nodes))
	for _, n := range nodes {
		out[n] = []string{}
	}
	slices.Sort(lambdas)
	for _, l := range lambdas {
		ranked := slices.Clone(nodes)
		slices.SortFunc(ranked, func(x, y string) int { return slices.Compare(rank(l, y), rank(l, x)) })
		for _, n := range ranked[:min(most, len(ranked))] {
			out[n] = append(out[n], l)
		}
	}
	return out
}

// rank is how a worker stands for a lambda; its name decides among equals.
func rank(lambda, node string) []byte {
	h := fnv.New64a()
	for _, text := range []string{lambda, "\x00", node} {
		_, _ = h.Write([]byte(text)) // a hash takes everything
	}
	return append(binary.BigEndian.AppendUint64(nil, mix(h.Sum64())), node...)
}

// mix spreads the last bytes, which FNV leaves near each other, over all bits
// (the finalizer of MurmurHash3).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// kafka are the lambdas that have Kafka triggers.
func (c *configs) kafka() []string {
	var out []string
	c.each(func(name string, cfg lambda.Config) {
		if len(cfg.Triggers.Kafka) > 0 {
			out = append(out, name)
		}
	})
	return out
}
