package sim

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// Result is what came of the pass that counts. Requests that arrived before it
// are in no figure. Times are in milliseconds, ratios are shares of 1.
type Result struct {
	Arrived  int64 `json:"arrived"`
	Served   int64 `json:"served"`
	Rejected int64 `json:"rejected"`
	Waiting  int64 `json:"waiting"` // waiting still when nothing could happen any more

	Overhead     float64 `json:"overhead_ratio"` // mean of wait / (wait + execution) over the served
	ColdRatio    float64 `json:"cold_ratio"`
	DelayedRatio float64 `json:"delayed_ratio"` // blocked ones included
	WarmRatio    float64 `json:"warm_ratio"`
	Cold         int64   `json:"cold"`
	Delayed      int64   `json:"delayed"`
	Warm         int64   `json:"warm"`
	Blocked      int64   `json:"blocked"`

	Wait     Quantiles `json:"wait_ms"`         // from arrival to execution
	EndToEnd Quantiles `json:"end_to_end_ms"`   // from arrival to the end
	ExecMean float64   `json:"exec_mean_ms"`    //
	MaxWait  float64   `json:"longest_wait_ms"` //

	Starts     int64 `json:"starts"`      // of sandboxes
	Reused     int64 `json:"reused"`      // of them from a demoted sandbox
	Failed     int64 `json:"failed"`      // of them failed
	Died       int64 `json:"died"`        // sandboxes that died while a request ran
	Evicted    int64 `json:"evicted"`     // for memory
	Expired    int64 `json:"expired"`     // by a keep-alive
	Cancelled  int64 `json:"cancelled"`   // starts given up
	Discarded  int64 `json:"discarded"`   // destroyed for any other reason
	WastedCold int64 `json:"wasted_cold"` // became ready and were never used

	UsedGBs float64       `json:"used_gb_s"` // memory held by sandboxes, integrated over the workload's span
	IdleGBs float64       `json:"idle_gb_s"` // by those of them that idled and might be evicted
	MeanMB  float64       `json:"mean_mb"`
	PeakMB  int64         `json:"peak_mb"`
	Seconds float64       `json:"seconds"` // virtual length of the pass
	Memory  []MemoryPoint `json:"memory,omitempty"`

	Counters   []engine.Counter `json:"counters,omitempty"` // what the policies report, all nodes
	ActionHash string           `json:"action_hash"`
}

// Quantiles of a time, ms.
type Quantiles struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
}

// MemoryPoint is the mean memory in use from a moment of the pass on.
type MemoryPoint struct {
	Seconds float64 `json:"t_s"`
	MB      float64 `json:"mb"`
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func quantiles(h *hdrhistogram.Histogram, sum time.Duration, n int64) Quantiles {
	at := func(q float64) float64 { return float64(h.ValueAtQuantile(q)) / 1000 }
	return Quantiles{Mean: millis(sum) / float64(max(1, n)), P50: at(50), P90: at(90), P99: at(99), P999: at(99.9)}
}

func (m *metrics) result(r *run) *Result {
	n := float64(max(1, m.served))
	seconds := max(r.now.Sub(m.begin).Seconds(), 1e-9)
	span := m.seriesSpan(r)
	res := &Result{
		Arrived: m.arrived, Served: m.served, Rejected: m.rejected, Waiting: r.waiting(),
		Overhead: m.ratioSum / n, ColdRatio: float64(m.kinds[policies.Cold]) / n,
		DelayedRatio: float64(m.kinds[policies.Delayed]) / n, WarmRatio: float64(m.kinds[policies.Warm]) / n,
		Cold: m.kinds[policies.Cold], Delayed: m.kinds[policies.Delayed], Warm: m.kinds[policies.Warm], Blocked: m.blocked,
		Wait: quantiles(m.wait, m.waitSum, m.served), EndToEnd: quantiles(m.total, m.waitSum+m.execSum, m.served),
		ExecMean: millis(m.execSum) / n, MaxWait: millis(m.maxWait),
		Starts: m.starts, Reused: m.reused, Failed: m.failed, Died: m.died,
		Evicted: m.pressure, Expired: m.expired, Cancelled: m.cancelled, Discarded: m.discard,
		WastedCold: m.wasted + r.unused(),
		UsedGBs:    m.usedSum / mbPerGB, IdleGBs: m.idleSum / mbPerGB, MeanMB: m.usedSum / max(span.Seconds(), 1e-9),
		PeakMB: m.peakMB, Seconds: seconds, Memory: m.series.points(span),
		ActionHash: fmt.Sprintf("%016x", uint64(r.hash)),
	}
	res.Counters = r.counters()
	return res
}

// mbPerGB is 1000 as everywhere in this project: GB are decimal.
const mbPerGB = 1000

func (m *metrics) seriesSpan(r *run) time.Duration { return r.end.Sub(m.begin) }

// waiting counts requests of the pass that counts which have not ended.
func (r *run) waiting() int64 {
	gone := make([]bool, len(r.requests))
	for _, id := range r.free {
		gone[id] = true
	}
	var n int64
	for id := range r.requests {
		if !gone[id] && r.requests[id].measured {
			n++
		}
	}
	return n
}

// unused counts ready sandboxes that were never used.
func (r *run) unused() int64 {
	var n int64
	for _, node := range r.nodes {
		for i := range node.boxes {
			if b := &node.boxes[i]; b.live && b.ready && !b.used {
				n++
			}
		}
	}
	return n
}

// counters sums what the policies of all nodes report.
func (r *run) counters() []engine.Counter {
	var all []engine.Counter
	for i, n := range r.nodes {
		for k, c := range n.e.Snapshot().Counters {
			if i == 0 || k >= len(all) {
				all = append(all, c)
				continue
			}
			all[k].Value += c.Value
		}
	}
	return all
}
