package boss

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/metrics"
)

// observed is what /metrics shows beside the counters.
func (b *Boss) observed() metrics.BossState {
	s := metrics.BossState{Workers: map[string]int{"up": 0, "draining": 0, "suspect": 0, "lost": 0}}
	for _, n := range b.fleet.Nodes() {
		s.Workers[n.State]++
		if n.State == "up" {
			s.InFlight += n.InFlight
		}
	}
	if b.cfg.Registry != nil {
		var health string
		s.Lambdas, health = b.cfg.Registry.Health()
		s.Store = health == api.RegistryOK
	}
	return s
}

// Observe adds what belongs to this boss, but is counted elsewhere, to its
// metrics. It must be called before Run.
func (b *Boss) Observe(c ...prometheus.Collector) { b.metrics.Register(c...) }
