package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics is everything that one worker counts.
type Metrics struct {
	Tally *Tally // the counters of /stats

	reg         *prometheus.Registry
	policy      string
	invocations *prometheus.CounterVec
	queue       *prometheus.HistogramVec
	init        *prometheus.HistogramVec
	exec        *prometheus.HistogramVec
	evictions   *prometheus.CounterVec
	failures    *prometheus.CounterVec
	functions   functions
}

// New makes the metrics of a worker that schedules by the named policy. node
// is called at each scrape for the gauges.
func New(policy string, node func() Node) *Metrics {
	m := &Metrics{Tally: NewTally(), reg: prometheus.NewRegistry(), policy: policy}
	m.invocations = counter("ol_invocations_total", "Invocations answered, by function, kind of start and HTTP status.", "function", "start", "code")
	m.queue = histogram("ol_queue_seconds", "Time from the arrival of an invocation until it had a sandbox.", "start")
	m.init = histogram("ol_init_seconds", "Time that making a sandbox took, by how it was made.", "origin")
	m.exec = histogram("ol_exec_seconds", "Time from having a sandbox to the end of the answer.", "function")
	m.evictions = counter("ol_evictions_total", "Sandboxes taken out of service, by reason.", "policy", "reason")
	m.failures = counter("ol_start_failures_total", "Starts of sandboxes that failed, by whose fault it was.", "fault")
	m.functions.metrics = m
	m.reg.MustRegister(m.invocations, m.queue, m.init, m.exec, m.evictions, m.failures, nodeCollector{node},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// histogram has buckets from 0.1 ms to 52 s, each twice the one before.
func histogram(name, help string, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(0.0001, 2, 20),
	}, labels)
}

// Handler serves /metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.reg, promhttp.HandlerOpts{})
}

// Started counts a sandbox that was made.
func (m *Metrics) Started(origin string, took time.Duration) {
	m.init.WithLabelValues(origin).Observe(took.Seconds())
}

// StartFailed counts a start that failed; fault is "lambda" or "host".
func (m *Metrics) StartFailed(fault string) { m.failures.WithLabelValues(fault).Inc() }

// Evicted counts a sandbox that was taken out of service.
func (m *Metrics) Evicted(reason string) { m.evictions.WithLabelValues(m.policy, reason).Inc() }
