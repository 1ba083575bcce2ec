package metrics

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Boss is everything that one boss counts.
type Boss struct {
	reg   *prometheus.Registry
	took  prometheus.Histogram
	again prometheus.Counter
	codes [lastCode + 1 - firstCode]atomic.Int64
	other atomic.Int64 // statuses that HTTP does not have
}

// The statuses that HTTP has.
const (
	firstCode = 100
	lastCode  = 599
)

// BossState is what a boss knows at a scrape.
type BossState struct {
	Workers  map[string]int // by state: up, draining, suspect, lost
	InFlight int            // requests on workers that are up
	Lambdas  int            // installed
	Store    bool           // the registry can be written
}

// NewBoss makes the metrics of a boss. state is called at each scrape.
func NewBoss(state func() BossState) *Boss {
	b := &Boss{reg: prometheus.NewRegistry()}
	b.took = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "ol_boss_invocation_seconds", Help: "Time from the arrival of an invocation to the end of its answer.",
		Buckets: prometheus.ExponentialBuckets(0.0001, 2, 20),
	})
	b.again = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "ol_boss_retries_total", Help: "Times that an invocation was sent to another worker because one had not started it.",
	})
	b.reg.MustRegister(b.took, b.again, bossCollector{b, state},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return b
}

// Register adds what another part of the boss counts.
func (b *Boss) Register(c ...prometheus.Collector) { b.reg.MustRegister(c...) }

// Handler serves /metrics.
func (b *Boss) Handler() http.Handler { return promhttp.HandlerFor(b.reg, promhttp.HandlerOpts{}) }

// Answered counts an invocation, its status, and how often it was sent again.
func (b *Boss) Answered(code int, took time.Duration, retries int) {
	if code >= firstCode && code <= lastCode {
		b.codes[code-firstCode].Add(1)
	} else {
		b.other.Add(1)
	}
	b.took.Observe(took.Seconds())
	if retries > 0 {
		b.again.Add(float64(retries))
	}
}

// Total counts the invocations that were answered.
func (b *Boss) Total() int64 {
	n := b.other.Load()
	for i := range b.codes {
		n += b.codes[i].Load()
	}
	return n
}

// bossCollector reads counters and state when it is scraped.
type bossCollector struct {
	boss  *Boss
	state func() BossState
}

func (bossCollector) descs() (answered, workers, inFlight, lambdas, store *prometheus.Desc) {
	d := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return d("ol_boss_invocations_total", "Invocations answered, by HTTP status; 0 is a status that HTTP does not have.", "code"),
		d("ol_boss_workers", "Workers by state.", "state"),
		d("ol_boss_in_flight", "Invocations on workers that are up, those of other bosses and clients included."),
		d("ol_boss_lambdas", "Lambdas that are installed."),
		d("ol_boss_store_up", "1 if the registry can be written.")
}

// Describe is part of prometheus.Collector.
func (c bossCollector) Describe(ch chan<- *prometheus.Desc) {
	a, w, i, l, s := c.descs()
	for _, d := range []*prometheus.Desc{a, w, i, l, s} {
		ch <- d
	}
}

// Collect is part of prometheus.Collector.
func (c bossCollector) Collect(ch chan<- prometheus.Metric) {
	answered, workers, inFlight, lambdas, store := c.descs()
	counted := func(code int, n int64) {
		if n > 0 {
			ch <- prometheus.MustNewConstMetric(answered, prometheus.CounterValue, float64(n), strconv.Itoa(code))
		}
	}
	for i := range c.boss.codes {
		counted(firstCode+i, c.boss.codes[i].Load())
	}
	counted(0, c.boss.other.Load())
	st := c.state()
	for name, n := range st.Workers {
		ch <- prometheus.MustNewConstMetric(workers, prometheus.GaugeValue, float64(n), name)
	}
	up := 0.0
	if st.Store {
		up = 1
	}
	ch <- prometheus.MustNewConstMetric(inFlight, prometheus.GaugeValue, float64(st.InFlight))
	ch <- prometheus.MustNewConstMetric(lambdas, prometheus.GaugeValue, float64(st.Lambdas))
	ch <- prometheus.MustNewConstMetric(store, prometheus.GaugeValue, up)
}
