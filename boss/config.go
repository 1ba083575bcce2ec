package boss

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/open-lambda/open-lambda/boss/async"
	"github.com/open-lambda/open-lambda/boss/registry"
	"github.com/open-lambda/open-lambda/policies/placement"
)

// Config is what a Boss needs.
type Config struct {
	Listener net.Listener // serves HTTP; the boss closes it
	// Registry is the lambdas of the cluster; nil: workers have their own, and
	// the boss asks nobody whether a lambda exists.
	Registry *registry.Registry
	Placer   string        // a name of policies/placement; "": hash
	Seed     uint64        // for placers that draw
	Timeout  time.Duration // longest invocation; 0: 5 min
	MaxBody  int64         // largest body of a request, bytes; 0: 64 MB
	Drain    time.Duration // how long running invocations may take to end when the boss stops; 0: 30 s
	// Token must be shown by workers that join and by whoever changes
	// anything; "": nobody needs one.
	Token string
	TLS   *tls.Config // towards workers
	// TLSOnly refuses workers of other machines that serve without TLS.
	TLSOnly bool
	// Scaler starts and stops workers for /scaling/worker_count; nil: refused.
	Scaler Scaler
	// Async is for asynchronous invocations: the boss adds how they are run and
	// what is known of lambdas. nil: there are none.
	Async *async.Config
	Now   func() time.Time // for cron triggers; nil: time.Now
	// KafkaWorkers is on how many workers the Kafka consumers of a lambda run;
	// 0: 2.
	KafkaWorkers int
	Logger       *slog.Logger // nil: silent
}

func (c *Config) fill() error {
	if c.Listener == nil {
		return errors.New("make boss: a listener is required")
	}
	if c.Placer == "" {
		c.Placer = "hash"
	}
	if _, err := placement.New(c.Placer, c.Seed); err != nil {
		return fmt.Errorf("make boss: %w", err)
	}
	if c.KafkaWorkers <= 0 {
		c.KafkaWorkers = 2
	}
	if c.Drain <= 0 {
		c.Drain = 30 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}
