package sim

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// metrics are the counters of the pass that counts. Before it they count too,
// and are reset.
type metrics struct {
	arrived, served, rejected int64
	kinds                     [3]int64 // by policies.Kind
	blocked                   int64
	ratioSum                  float64 // of wait / (wait + exec)
	waitSum, execSum          time.Duration
	maxWait                   time.Duration
	wait, total               *hdrhistogram.Histogram // us

	starts, failed, reused, died          int64
	pressure, expired, cancelled, discard int64 // sandboxes destroyed, by reason
	wasted                                int64 // became ready and were destroyed unused

	begin                  policies.Time
	closed                 bool  // the time that counts is over
	usedMB, idleMB, peakMB int64 // now; now; most
	usedSum, idleSum       float64
	series                 series
}

// Histograms hold times from 1 us to 10 h with an error of 0.1 %.
func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(10*time.Hour/time.Microsecond), 3)
}

// reset begins to count. What is in memory stays there.
func (m *metrics) reset(now policies.Time) {
	*m = metrics{
		wait: newHistogram(), total: newHistogram(), begin: now,
		usedMB: m.usedMB, idleMB: m.idleMB, peakMB: m.usedMB,
	}
}

// carry takes over a node's sandboxes from the warm-up: one that was not used
// yet is no start of the pass that counts.
func (m *metrics) carry(n *node) {
	for i := range n.boxes {
		n.boxes[i].used = true
	}
}

// integrate accounts for the time between two moments.
func (m *metrics) integrate(from, to policies.Time) {
	if m.closed || m.begin == policies.Never {
		return
	}
	seconds := to.Sub(from).Seconds()
	m.usedSum += float64(m.usedMB) * seconds
	m.idleSum += float64(m.idleMB) * seconds
	m.series.add(from.Sub(m.begin), to.Sub(m.begin), m.usedMB)
}

// gone counts a sandbox that is being destroyed.
func (m *metrics) gone(b *box, why engine.Reason) {
	switch why {
	case engine.ReasonPressure:
		m.pressure++
	case engine.ReasonExpired:
		m.expired++
	case engine.ReasonCancelled:
		m.cancelled++
	default:
		m.discard++
	}
	if b.ready && !b.used {
		m.wasted++
	}
}

// finish ends a served request.
func (r *run) finish(n *node, id policies.RequestID) {
	q := &r.requests[id]
	if q.measured {
		r.m.add(q)
		r.record(q, id, engine.ReasonNone)
	}
	r.release(n, id)
}

func (r *run) reject(n *node, a *engine.Action) {
	q := &r.requests[a.Req]
	q.wait = a.Wait
	if q.measured {
		r.m.rejected++
		r.record(q, a.Req, a.Reason)
	}
	r.release(n, a.Req)
}

func (r *run) release(n *node, id policies.RequestID) {
	n.inFlight--
	r.inFlight--
	r.free = append(r.free, id)
}

func (m *metrics) add(q *request) {
	m.served++
	m.kinds[q.kind]++
	if q.blocked {
		m.blocked++
	}
	if q.wait > 0 {
		m.ratioSum += float64(q.wait) / float64(q.wait+q.exec)
		m.waitSum += q.wait
		m.maxWait = max(m.maxWait, q.wait)
	}
	m.execSum += q.exec
	record(m.wait, q.wait)
	record(m.total, q.wait+q.exec)
}

func record(h *hdrhistogram.Histogram, d time.Duration) {
	// Beyond the range only the last bucket is left.
	_ = h.RecordValue(min(int64(d/time.Microsecond), h.HighestTrackableValue()))
}
