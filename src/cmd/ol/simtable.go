package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/sim/study"
)

const (
	mbPerGB = 1000 // GB are decimal, as in the paper's cache sizes
	slowBy  = time.Second

	// S2 with these has the paper's memory per request and no execution that
	// its testbed does not show.
	paperMemScale = 3.67
	paperExecCap  = 400 * time.Millisecond
)

// simReport is a study with what it was made from.
type simReport struct {
	Trace    string       `json:"trace"`
	Note     string       `json:"note,omitempty"`
	Model    string       `json:"model"`
	Warmup   bool         `json:"warmup"`
	Seeds    []uint64     `json:"seeds"`
	Requests int64        `json:"requests"` // of the first run
	Nodes    int          `json:"nodes"`
	Cells    []study.Cell `json:"cells"`

	Clairvoyants []clairvoyant `json:"clairvoyants,omitempty"`
}

func newReport(t traceChoice, p study.Plan, cells []study.Cell) simReport {
	r := simReport{
		Trace: t.source.Name, Note: t.source.Note, Warmup: p.Base.Warmup, Seeds: p.Seeds, Cells: cells,
		Requests: cells[0].Runs[0].Arrived, Nodes: p.Base.Nodes, Clairvoyants: clairvoyants(p.Policies, cells),
	}
	switch {
	case t.source.Calls != nil:
		r.Model = "invocations as recorded"
	case t.source.Synthetic != nil:
		r.Model = "generated"
	default:
		r.Model = fmt.Sprintf("sigma %g, cold start %v per MB, memory x%g", t.o.Sigma, t.m.ColdPerMB, t.m.MemScale)
	}
	if t.o.MaxExec > 0 && t.source.Synthetic == nil {
		r.Model += fmt.Sprintf(", execution at most %v", t.o.MaxExec)
	}
	return r
}

// simFigure is a column of the tables.
type simFigure struct {
	name, head string
	decimals   int
	wide       bool // in files and in JSON, not on the terminal
	of         func(*sim.Result) float64
}

func simFigures() []simFigure {
	return []simFigure{
		{"overhead_pct", "overhead %", 2, false, func(r *sim.Result) float64 { return 100 * r.Overhead }},
		{"cold_pct", "cold %", 2, false, func(r *sim.Result) float64 { return 100 * r.ColdRatio }},
		{"delayed_pct", "delayed %", 2, false, func(r *sim.Result) float64 { return 100 * r.DelayedRatio }},
		{"blocked_pct", "(blocked) %", 2, false, func(r *sim.Result) float64 { return 100 * float64(r.Blocked) / float64(max(1, r.Served)) }},
		{"warm_pct", "warm %", 2, false, func(r *sim.Result) float64 { return 100 * r.WarmRatio }},
		{"wait_mean_ms", "wait ms", 1, false, func(r *sim.Result) float64 { return r.Wait.Mean }},
		{"wait_p50_ms", "wait p50", 1, true, func(r *sim.Result) float64 { return r.Wait.P50 }},
		{"wait_p99_ms", "wait p99", 1, false, func(r *sim.Result) float64 { return r.Wait.P99 }},
		{"end_to_end_mean_ms", "end-to-end", 1, true, func(r *sim.Result) float64 { return r.EndToEnd.Mean }},
		{"evicted", "evicted", 0, false, func(r *sim.Result) float64 { return float64(r.Evicted) }},
		{"expired", "expired", 0, false, func(r *sim.Result) float64 { return float64(r.Expired) }},
		{"wasted_cold", "wasted", 0, false, func(r *sim.Result) float64 { return float64(r.WastedCold) }},
		{"idle_gb_s", "idle GB s", 0, false, func(r *sim.Result) float64 { return r.IdleGBs }},
		{"mean_mb", "mean MB", 0, true, func(r *sim.Result) float64 { return r.MeanMB }},
		{"rejected", "rejected", 0, false, func(r *sim.Result) float64 { return float64(r.Rejected) }},
		{"waiting", "unserved", 0, false, func(r *sim.Result) float64 { return float64(r.Waiting) }},
	}
}

// printStudy prints a row for each cell. Columns that are 0 all over are left
// out.
func printStudy(s streams, r simReport) {
	s.print("%s: %d requests, %s", r.Trace, r.Requests, r.Model)
	if r.Note != "" {
		s.print("Note: %s.", r.Note)
	}
	how := "cache warmed by one replay, then measured"
	if !r.Warmup {
		how = "beginning with an empty cache"
	}
	if r.Nodes > 1 {
		how = fmt.Sprintf("%d nodes; ", r.Nodes) + how
	}
	s.print("%s; %s", how, plural(len(r.Seeds), "seed", "seeds"))
	if len(r.Seeds) > 1 {
		s.print("± is the 95 %% confidence interval over the seeds")
	}
	figures := usedFigures(r.Cells)
	head := table.Row{"GB", "policy"}
	for _, f := range figures {
		head = append(head, f.head)
	}
	t := plainTable(head, 2)
	for i := range r.Cells {
		c := &r.Cells[i]
		if i > 0 && c.PoolMB != r.Cells[i-1].PoolMB {
			t.AppendSeparator()
		}
		row := table.Row{float64(c.PoolMB) / mbPerGB, c.Policy}
		for _, f := range figures {
			row = append(row, f.show(c))
		}
		t.AppendRow(row)
	}
	s.print("%s", t.Render())
	printClairvoyants(s, r.Clairvoyants)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (f simFigure) show(c *study.Cell) string {
	i := c.Over(f.of)
	if i.N < 2 || f.decimals == 0 {
		return fmt.Sprintf("%.*f", f.decimals, i.Mean)
	}
	return fmt.Sprintf("%.*f ±%.*f", f.decimals, i.Mean, f.decimals, i.Half)
}

func usedFigures(cells []study.Cell) []simFigure {
	var used []simFigure
	for _, f := range simFigures() {
		if f.wide {
			continue
		}
		for i := range cells {
			if v := cells[i].Over(f.of); v.Mean != 0 || strings.HasPrefix(f.name, "overhead") {
				used = append(used, f)
				break
			}
		}
	}
	return used
}
