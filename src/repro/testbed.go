package repro

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/src/bench"
	"github.com/open-lambda/open-lambda/src/replay"
	"github.com/open-lambda/open-lambda/src/repro/plot"
	"github.com/open-lambda/open-lambda/src/trace"
)

// testbedID names the figure that Testbed makes.
const testbedID = "testbed"

// Bed is a replay on real sandboxes: a part of azure-like, with the memory that
// the part would have of the paper's cache.
type Bed struct {
	Functions int           `json:"functions"`
	GB        float64       `json:"gb"`      // of the paper's cache, whose share the functions have
	Span      time.Duration `json:"span_ns"` // before scaling time
	Nodes     int           `json:"nodes"`
	PoolMB    int           `json:"pool_mb"` // of each node
	Placer    string        `json:"placer"`
	Seed      uint64        `json:"seed"`
	Scale     float64       `json:"scale"` // of time: 2 is half as fast; 0 until one was found
}

// NewBed takes the paper's three nodes. Memory is the functions' share of a
// cache of gb GB.
func NewBed(functions int, gb float64, span time.Duration, seed uint64) Bed {
	const nodes = 3
	whole := trace.AzureLike()
	mb := int(gb * mbPerGB * float64(functions) / float64(whole.Functions))
	return Bed{Functions: functions, GB: gb, Span: span, Nodes: nodes, PoolMB: mb / nodes, Placer: "warm-first", Seed: seed}
}

// Workload generates the part: rates, bursts, executions and cold starts of a
// function are those of azure-like.
func (b Bed) Workload() (trace.Workload, error) {
	g := trace.AzureLike()
	perFunction := float64(g.Requests) / float64(g.Functions) / g.Span.Seconds()
	g.Functions, g.Span = b.Functions, b.Span
	g.Requests = max(b.Functions, int(perFunction*float64(b.Functions)*b.Span.Seconds()))
	return g.Workload(b.Seed)
}

// BedRun is what came of a replay under one policy.
type BedRun struct {
	Bed       Bed               `json:"bed"`
	Build     string            `json:"build"`
	Policy    string            `json:"policy"`
	Summary   replay.Summary    `json:"summary"`
	Predicted replay.Prediction `json:"predicted"` // by the simulator, of the same workload
	Drift     float64           `json:"worst_drift"`
	Usage     bench.Usage       `json:"usage"` // of the machine during the run
}

// What a run may have for verdicts to rest on it.
const (
	mostErrors = 0.01 // of the requests
	mostCPU    = 0.85 // of the processors' time: beyond it, the machine is what was measured
)

// Unsound says why no verdict should rest on a run, "" if nothing is against it.
func (r *BedRun) Unsound() string {
	switch {
	case r.failed() > mostErrors:
		return fmt.Sprintf("%.1f %% of the requests under %s failed", 100*r.failed(), bedNames()[r.Policy])
	case r.Drift > replay.WarnDrift:
		return fmt.Sprintf("requests under %s were sent late: a drift of %.0f %%", bedNames()[r.Policy], 100*r.Drift)
	case r.Usage.CPUShare > mostCPU:
		return fmt.Sprintf("the processors were %.0f %% busy under %s: the machine was measured", 100*r.Usage.CPUShare, bedNames()[r.Policy])
	}
	return ""
}

// failed is the share of the requests that got no good answer.
func (r *BedRun) failed() float64 {
	return float64(r.Summary.Errors) / float64(max(1, r.Summary.Requests))
}

// BedPolicies are those that the paper ran on its testbed and workers have, and
// ours. ttl counts from the last use, as OpenLambda does.
func BedPolicies() []string {
	return []string{"ttl", "lru", "faascache", "cidre-bss", "cidre", "cidre+"}
}

// bedNames are the paper's names of BedPolicies.
func bedNames() map[string]string {
	return map[string]string{"ttl": "TTL", "lru": "LRU", "faascache": "FaasCache", "cidre-bss": "CIDRE_BSS", "cidre": "CIDRE", "cidre+": "cidre+"}
}

// Testbed draws runs and judges what the paper claims of its own. The i-th runs
// of all policies are of one seed. build is the program that judges.
func Testbed(runs []BedRun, build string) (Outcome, *Data, error) {
	d := &Data{Scene: Scene{Azure: "azure-like", FC: "azure-like"}, Build: build}
	t := bedTable{d, runs[0].Bed, map[string][]BedRun{}}
	for _, r := range runs {
		t.runs[r.Policy] = append(t.runs[r.Policy], r)
	}
	for i := range t.runs[runs[0].Policy] {
		d.Seeds = append(d.Seeds, uint64(i))
	}
	report, err := t.report()
	if err != nil {
		return Outcome{}, nil, err
	}
	b := t.bed
	o := Outcome{Report: report, Figure: Figure{
		ID: testbedID, Title: "Real sandboxes", Where: fmt.Sprintf("Figs 12 (a, b) and 13 (a, c) at %g GB", b.GB), Ran: "testbed of three nodes with 64 cores each",
		Origin: fmt.Sprintf("%d workers behind a boss on one machine of %d cores, real sandboxes, %d run(s) of a policy", b.Nodes, runtime.NumCPU(), len(d.Seeds)),
		Note: fmt.Sprintf("%d functions of azure-like for %v, all times x%.3g, %d MB on each node (their share of %g GB), placer %s, beginning with empty caches. \"simulated\" is the same workload on the same nodes in the simulator. Times are divided by the factor.",
			b.Functions, b.Span, b.Scale, b.PoolMB, b.GB, b.Placer),
	}}
	for _, r := range runs {
		if r.Build != build && !slices.Contains(o.Builds, r.Build) {
			o.Builds = append(o.Builds, r.Build)
		}
	}
	for _, c := range t.claims() {
		o.Judged = append(o.Judged, c.judge(o.ID, d))
	}
	return o, d, nil
}

type bedTable struct {
	d    *Data
	bed  Bed
	runs map[string][]BedRun
}

func (t *bedTable) value(policy string, of func(*BedRun) float64) measure {
	return func(_ *Data, seed uint64) float64 { return of(&t.runs[policy][seed]) }
}

func (t *bedTable) row(policy, by string, of func(*BedRun) float64, paper float64) Row {
	v := t.value(policy, of)
	return Row{Key: []string{bedNames()[policy], by}, Paper: paper, Ours: t.d.each(v)}
}

func (t *bedTable) report() (*Report, error) {
	r := &Report{}
	m := bedValues()
	for _, v := range m.all() {
		values, err := paper(v.file)
		if err != nil {
			return nil, err
		}
		table := Table{Title: v.name + " on real sandboxes", Keys: []string{"policy", "by"}}
		for _, policy := range BedPolicies() {
			theirs := t.papers(values, v, bedNames()[policy])
			table.Rows = append(table.Rows, t.row(policy, "real sandboxes", v.measured, theirs))
			if v.simulated != nil {
				table.Rows = append(table.Rows, t.row(policy, "simulated", v.simulated, theirs))
			}
		}
		r.Tables = append(r.Tables, table)
		if v.chart != "" {
			r.Charts = append(r.Charts, Drawing{v.chart, plot.Chart{Title: table.Title + " and simulated", Y: plot.Axis{Label: v.name}, Bars: fromRows(table.Rows, true)}})
		}
	}
	r.Tables = append(r.Tables, t.soundness())
	return r, nil
}

// papers is the paper's value. Figure 13 is of 100 GB only.
func (t *bedTable) papers(values paperTable, v bedValue, policy string) float64 {
	if v.file == "fig13" {
		if t.bed.GB != defaultGB {
			return math.NaN()
		}
		return values.value(v.column, "workload", "azure", "policy", policy)
	}
	return values.value(v.column, "workload", "azure", "policy", policy, "memory_gb", text(t.bed.GB))
}

// soundness is what speaks for the runs.
func (t *bedTable) soundness() Table {
	table := Table{Title: "how sound the runs are", Keys: []string{"policy", "value"}}
	for _, v := range []struct {
		name string
		of   func(*BedRun) float64
	}{
		{"requests", func(r *BedRun) float64 { return float64(r.Summary.Requests) }},
		{"failed (%)", func(r *BedRun) float64 { return 100 * r.failed() }},
		{"worst issue drift (%)", func(r *BedRun) float64 { return 100 * r.Drift }},
		{"processors busy (%)", func(r *BedRun) float64 { return 100 * r.Usage.CPUShare }},
		{"mean load", func(r *BedRun) float64 { return r.Usage.LoadMean }},
	} {
		for _, policy := range BedPolicies() {
			table.Rows = append(table.Rows, t.row(policy, v.name, v.of, math.NaN()))
		}
	}
	return table
}
