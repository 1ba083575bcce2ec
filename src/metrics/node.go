package metrics

import "github.com/prometheus/client_golang/prometheus"

// Node is the state of the worker at a scrape.
type Node struct {
	Sandboxes map[string]int   // by state
	Bytes     map[string]int64 // memory by kind: used, peak, pool
	Toggles   map[string]int64 // changes of conditional scaling, by direction: race, wait
	InFlight  int              // invocations waiting or running
}

type nodeCollector struct{ node func() Node }

func (c nodeCollector) descs() (sandboxes, bytes, toggles, inFlight *prometheus.Desc) {
	d := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return d("ol_sandboxes", "Sandboxes by state.", "state"),
		d("ol_memory_bytes", "Memory that sandboxes are charged for, its peak, and the pool.", "kind"),
		d("ol_css_toggles_total", "Changes of conditional speculative scaling (CIDRE, section 3.2).", "to"),
		d("ol_in_flight", "Invocations that wait or run.")
}

// Describe is part of prometheus.Collector.
func (c nodeCollector) Describe(ch chan<- *prometheus.Desc) {
	s, b, t, i := c.descs()
	ch <- s
	ch <- b
	ch <- t
	ch <- i
}

// Collect is part of prometheus.Collector.
func (c nodeCollector) Collect(ch chan<- prometheus.Metric) {
	s, b, t, i := c.descs()
	n := c.node()
	for k, v := range n.Sandboxes {
		ch <- prometheus.MustNewConstMetric(s, prometheus.GaugeValue, float64(v), k)
	}
	for k, v := range n.Bytes {
		ch <- prometheus.MustNewConstMetric(b, prometheus.GaugeValue, float64(v), k)
	}
	for k, v := range n.Toggles {
		ch <- prometheus.MustNewConstMetric(t, prometheus.CounterValue, float64(v), k)
	}
	ch <- prometheus.MustNewConstMetric(i, prometheus.GaugeValue, float64(n.InFlight))
}
