package repro

import (
	"fmt"
	"time"

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
	Span      time.Duration `json:"span_ns"` // before scaling time
	Nodes     int           `json:"nodes"`
	PoolMB    int           `json:"pool_mb"` // of each node
	Placer    string        `json:"placer"`
	Seed      uint64        `json:"seed"`
	Scale     float64       `json:"scale"` // of time: 2 is half as fast; 0 until one was found
}

// NewBed takes the paper's three nodes. Memory is the functions' share of the
// default cache.
func NewBed(functions int, span time.Duration, seed uint64) Bed {
	const nodes = 3
	whole := trace.AzureLike()
	mb := defaultGB * mbPerGB * functions / whole.Functions
	return Bed{Functions: functions, Span: span, Nodes: nodes, PoolMB: mb / nodes, Placer: "warm-first", Seed: seed}
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
	Load      string            `json:"load"` // of the machine, for readers
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
// of all policies are of one seed.
func Testbed(runs []BedRun) (Outcome, *Data, error) {
	d := &Data{Scene: Scene{Azure: "azure-like", FC: "azure-like"}}
	for i, r := range runs {
		if r.Policy == runs[0].Policy {
			d.Seeds = append(d.Seeds, uint64(i))
		}
	}
	for i := range d.Seeds {
		d.Seeds[i] = uint64(i)
	}
	t := bedTable{d, map[string][]BedRun{}}
	for _, r := range runs {
		t.runs[r.Policy] = append(t.runs[r.Policy], r)
	}
	report, err := t.report()
	if err != nil {
		return Outcome{}, nil, err
	}
	b := runs[0].Bed
	o := Outcome{Report: report, Figure: Figure{
		ID: testbedID, Title: "Real sandboxes", Where: "Figs 12 and 20 at 100 GB", Ran: "testbed of three nodes with 64 cores each",
		Origin: fmt.Sprintf("%d workers behind a boss on one machine, real sandboxes, %d run(s) of a policy", b.Nodes, len(d.Seeds)),
		Note: fmt.Sprintf("%d functions of azure-like for %v, all times x%.3g, %d MB on each node (their share of 100 GB), placer %s, beginning with empty caches. \"simulated\" is the same workload on the same nodes in the simulator. %s",
			b.Functions, b.Span, b.Scale, b.PoolMB, b.Placer, runs[0].Load),
	}}
	for _, c := range t.claims() {
		o.Judged = append(o.Judged, c.judge(o.ID, d))
	}
	return o, d, nil
}

type bedTable struct {
	d    *Data
	runs map[string][]BedRun
}

// bedValues are what is compared: measured, simulated, and the paper's column.
func bedValues() []struct {
	name                string
	measured, simulated func(*BedRun) float64
	file, column        string
} {
	share := func(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }
	ok := func(s *replay.Summary) int { return s.Cold + s.Delayed + s.Warm }
	return []struct {
		name                string
		measured, simulated func(*BedRun) float64
		file, column        string
	}{
		{
			"overhead ratio (%)", func(r *BedRun) float64 { return 100 * r.Summary.OverheadRatio },
			func(r *BedRun) float64 { return 100 * r.Predicted.OverheadRatio }, "fig12ac", "avg_overhead_ratio_pct",
		},
		{
			"cold (%)", func(r *BedRun) float64 { return share(r.Summary.Cold, ok(&r.Summary)) },
			func(r *BedRun) float64 { return share(r.Predicted.Cold, r.Predicted.Requests) }, "fig12bd", "cold_pct",
		},
		{
			"delayed (%)", func(r *BedRun) float64 { return share(r.Summary.Delayed, ok(&r.Summary)) },
			func(r *BedRun) float64 { return share(r.Predicted.Delayed, r.Predicted.Requests) }, "fig12bd", "delayed_warm_pct",
		},
		{
			"warm (%)", func(r *BedRun) float64 { return share(r.Summary.Warm, ok(&r.Summary)) },
			func(r *BedRun) float64 { return share(r.Predicted.Warm, r.Predicted.Requests) }, "fig12bd", "warm_pct",
		},
	}
}

func (t *bedTable) value(policy string, of func(*BedRun) float64) measure {
	return func(_ *Data, seed uint64) float64 { return of(&t.runs[policy][seed]) }
}

func (t *bedTable) row(policy, name string, of func(*BedRun) float64, paper float64) Row {
	v := t.value(policy, of)
	return Row{Key: []string{bedNames()[policy], name}, Paper: paper, Ours: t.d.interval(func(seed uint64) float64 { return v(t.d, seed) })}
}

func (t *bedTable) report() (*Report, error) {
	r := &Report{}
	for i, v := range bedValues() {
		values, err := paper(v.file)
		if err != nil {
			return nil, err
		}
		table := Table{Title: v.name + " on real sandboxes and simulated", Keys: []string{"policy", "by"}}
		for _, policy := range BedPolicies() {
			theirs := values.value(v.column, "workload", "azure", "policy", bedNames()[policy], "memory_gb", "100")
			table.Rows = append(table.Rows, t.row(policy, "real sandboxes", v.measured, theirs), t.row(policy, "simulated", v.simulated, theirs))
		}
		r.Tables = append(r.Tables, table)
		if i < 2 { // the other shares are in the table
			r.Charts = append(r.Charts, Drawing{"testbed" + string("ab"[i]), plot.Chart{Title: table.Title, Y: plot.Axis{Label: v.name}, Bars: fromRows(table.Rows, true)}})
		}
	}
	return r, nil
}

func (t *bedTable) claims() []Claim {
	values := bedValues()
	below := func(value int, a, b string) measure {
		return func(d *Data, seed uint64) float64 {
			return t.value(b, values[value].measured)(d, seed) - t.value(a, values[value].measured)(d, seed)
		}
	}
	var all []Claim
	for _, p := range [][2]string{{"faascache", "ttl"}, {"faascache", "lru"}, {"cidre-bss", "faascache"}, {"cidre", "cidre-bss"}, {"cidre", "faascache"}} {
		all = append(all, order("Fig. 12 (a)", bedNames()[p[0]]+" is below "+bedNames()[p[1]]+" on real sandboxes", "points", below(0, p[0], p[1])))
	}
	for _, p := range [][2]string{{"cidre-bss", "faascache"}, {"cidre", "cidre-bss"}} {
		all = append(all, order("Fig. 12 (b)", bedNames()[p[0]]+" has fewer cold starts than "+bedNames()[p[1]]+" on real sandboxes", "points", below(1, p[0], p[1])))
	}
	reduced := func(d *Data, seed uint64) float64 {
		return 100 * (1 - t.value("cidre", values[1].measured)(d, seed)/t.value("faascache", values[1].measured)(d, seed))
	}
	return append(all, apart("section 5.1", "CIDRE reduces FaasCache's cold ratio by 75.1 % on real sandboxes", 75.1, reduced))
}
