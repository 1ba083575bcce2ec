package repro

import "time"

// bedValue is compared: measured, simulated (nil: the simulator does not tell),
// and the paper's column.
type bedValue struct {
	name                string
	measured, simulated func(*BedRun) float64
	file, column        string
	chart               string // its name; "" leaves the value to the table
}

// bedMeasures are all that a testbed compares.
type bedMeasures struct {
	overhead, cold, delayed, warm, wait, longWait, total bedValue
}

func (m *bedMeasures) all() []bedValue {
	return []bedValue{m.overhead, m.cold, m.delayed, m.warm, m.wait, m.longWait, m.total}
}

func bedValues() bedMeasures {
	return bedMeasures{
		overhead: bedValue{
			"overhead ratio (%)", func(r *BedRun) float64 { return 100 * r.Summary.OverheadRatio },
			func(r *BedRun) float64 { return 100 * r.Predicted.OverheadRatio }, "fig12ac", "avg_overhead_ratio_pct", "testbeda",
		},
		cold: bedShare("cold (%)", "cold_pct", "testbedb",
			func(r *BedRun) int { return r.Summary.Cold }, func(r *BedRun) int { return r.Predicted.Cold }),
		delayed: bedShare("delayed (%)", "delayed_warm_pct", "",
			func(r *BedRun) int { return r.Summary.Delayed }, func(r *BedRun) int { return r.Predicted.Delayed }),
		warm: bedShare("warm (%)", "warm_pct", "",
			func(r *BedRun) int { return r.Summary.Warm }, func(r *BedRun) int { return r.Predicted.Warm }),
		wait: bedTime("overhead, median (ms)", "overhead_p50_ms", "testbedc",
			func(r *BedRun) time.Duration { return r.Summary.Overhead.P50 }, func(r *BedRun) time.Duration { return r.Predicted.Overhead.P50 }),
		longWait: bedTime("overhead, 99th percentile (ms)", "overhead_p99_ms", "",
			func(r *BedRun) time.Duration { return r.Summary.Overhead.P99 }, func(r *BedRun) time.Duration { return r.Predicted.Overhead.P99 }),
		total: bedTime("end-to-end time, median (ms)", "e2e_p50_ms", "",
			func(r *BedRun) time.Duration { return r.Summary.Latency.P50 }, nil),
	}
}

// bedShare is a kind of start among the requests that were answered well, on
// both sides.
func bedShare(name, column, chart string, measured, simulated func(*BedRun) int) bedValue {
	return bedValue{
		name: name, file: "fig12bd", column: column, chart: chart,
		measured: func(r *BedRun) float64 {
			return 100 * float64(measured(r)) / float64(max(1, r.Summary.Requests-r.Summary.Errors))
		},
		simulated: func(r *BedRun) float64 {
			return 100 * float64(simulated(r)) / float64(max(1, r.Predicted.Requests-r.Predicted.Rejected))
		},
	}
}

// bedTime is a time in the workload's own, not the stretched one.
func bedTime(name, column, chart string, measured, simulated func(*BedRun) time.Duration) bedValue {
	in := func(of func(*BedRun) time.Duration) func(*BedRun) float64 {
		if of == nil {
			return nil
		}
		return func(r *BedRun) float64 { return float64(of(r)) / float64(time.Millisecond) / max(r.Bed.Scale, 1e-9) }
	}
	return bedValue{name: name, file: "fig13", column: column, chart: chart, measured: in(measured), simulated: in(simulated)}
}

// claims are those of the paper about what a testbed measures.
func (t *bedTable) claims() []Claim {
	m := bedValues()
	var all []Claim
	below := func(where, how string, v bedValue, unit string, pairs ...[2]string) {
		for _, p := range pairs {
			margin := func(d *Data, seed uint64) float64 {
				return t.value(p[1], v.measured)(d, seed) - t.value(p[0], v.measured)(d, seed)
			}
			c := order(where, bedNames()[p[0]]+how+bedNames()[p[1]]+" on real sandboxes", unit, margin)
			all = append(all, t.sound(c, p[:]...))
		}
	}
	below("Fig. 12 (a)", " is below ", m.overhead, "points",
		[2]string{"faascache", "ttl"}, [2]string{"faascache", "lru"}, [2]string{"cidre-bss", "faascache"},
		[2]string{"cidre", "cidre-bss"}, [2]string{"cidre", "faascache"})
	below("Fig. 12 (b)", " has fewer cold starts than ", m.cold, "points", [2]string{"cidre-bss", "faascache"}, [2]string{"cidre", "cidre-bss"})
	below("Fig. 13 (a)", " has a lower median overhead than ", m.wait, "ms", [2]string{"cidre-bss", "faascache"}, [2]string{"cidre", "cidre-bss"})
	below("Fig. 13 (c)", " has a lower median end-to-end time than ", m.total, "ms", [2]string{"cidre", "faascache"})
	if t.bed.GB != defaultGB {
		return all
	}
	reduced := func(d *Data, seed uint64) float64 {
		return 100 * (1 - t.value("cidre", m.cold.measured)(d, seed)/t.value("faascache", m.cold.measured)(d, seed))
	}
	return append(all, t.sound(apart("section 5.1", "CIDRE reduces FaasCache's cold ratio by 75.1 % on real sandboxes", 75.1, reduced), "cidre", "faascache"))
}

// sound leaves a claim undecided that runs do not bear.
func (t *bedTable) sound(c Claim, policies ...string) Claim {
	for _, p := range policies {
		for i := range t.runs[p] {
			if why := t.runs[p][i].Unsound(); why != "" {
				c.Untestable = why
			}
		}
	}
	return c
}
