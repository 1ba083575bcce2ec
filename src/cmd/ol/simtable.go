package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/sim/study"
)

const (
	mbPerGB = 1000 // GB are decimal, as in the paper's cache sizes
	slowBy  = time.Second
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
		if t.o.Minutes > 0 {
			r.Model += fmt.Sprintf(", minutes %d to %d", t.o.First+1, t.o.First+t.o.Minutes)
		} else if t.o.First > 0 {
			r.Model += fmt.Sprintf(", from minute %d on", t.o.First+1)
		}
	default:
		r.Model = fmt.Sprintf("sigma %g, cold start %v per MB, memory x%g", t.o.Sigma, t.m.ColdPerMB, t.m.MemScale)
	}
	if t.o.MaxExec > 0 {
		r.Model += fmt.Sprintf(", execution at most %v", t.o.MaxExec)
	}
	return r
}

// simFigure is a column of the tables.
type simFigure struct {
	name, head string
	decimals   int
	rank       int // the highest is left out of a narrow table first, 0 never
	of         func(*sim.Result) float64
}

// hidden is the rank of figures that are in files and in JSON only.
const hidden = 100

func simFigures() []simFigure {
	return []simFigure{
		{"overhead_pct", "overhead %", 2, 0, func(r *sim.Result) float64 { return 100 * r.Overhead }},
		{"cold_pct", "cold %", 2, 0, func(r *sim.Result) float64 { return 100 * r.ColdRatio }},
		{"delayed_pct", "delayed %", 2, 5, func(r *sim.Result) float64 { return 100 * r.DelayedRatio }},
		{"blocked_pct", "(blocked) %", 2, 6, func(r *sim.Result) float64 { return 100 * float64(r.Blocked) / float64(max(1, r.Served)) }},
		{"warm_pct", "warm %", 2, 7, func(r *sim.Result) float64 { return 100 * r.WarmRatio }},
		{"wait_mean_ms", "wait ms", 1, 2, func(r *sim.Result) float64 { return r.Wait.Mean }},
		{"wait_p50_ms", "wait p50", 1, hidden, func(r *sim.Result) float64 { return r.Wait.P50 }},
		{"wait_p99_ms", "wait p99", 1, 1, func(r *sim.Result) float64 { return r.Wait.P99 }},
		{"end_to_end_mean_ms", "end-to-end", 1, hidden, func(r *sim.Result) float64 { return r.EndToEnd.Mean }},
		{"evicted", "evicted", 0, 8, func(r *sim.Result) float64 { return float64(r.Evicted) }},
		{"expired", "expired", 0, 9, func(r *sim.Result) float64 { return float64(r.Expired) }},
		{"wasted_cold", "wasted", 0, 3, func(r *sim.Result) float64 { return float64(r.WastedCold) }},
		{"idle_gb_s", "idle GB s", 0, 4, func(r *sim.Result) float64 { return r.IdleGBs }},
		{"mean_mb", "mean MB", 0, hidden, func(r *sim.Result) float64 { return r.MeanMB }},
		{"rejected", "rejected", 0, 0, func(r *sim.Result) float64 { return float64(r.Rejected) }},
		{"waiting", "unserved", 0, 0, func(r *sim.Result) float64 { return float64(r.Waiting) }},
	}
}

// printStudy prints a row for each cell. Columns that are 0 all over are left
// out, and those for which a narrow terminal has no room.
func printStudy(s streams, r simReport, wide bool) {
	s.prose("%s: %d requests, %s", r.Trace, r.Requests, r.Model)
	if r.Note != "" {
		s.prose("Note: %s.", r.Note)
	}
	how := "cache warmed by one replay, then measured"
	if !r.Warmup {
		how = "beginning with an empty cache"
	}
	if r.Nodes > 1 {
		how = fmt.Sprintf("%d nodes; ", r.Nodes) + how
	}
	s.prose("%s; %s", how, plural(len(r.Seeds), "seed", "seeds"))
	if len(r.Seeds) > 1 {
		s.print("± is the 95 %% confidence interval over the seeds")
	}
	s.fitted(studyColumns(r.Cells), poolBreaks(r.Cells), wide)
	printClairvoyants(s, r.Clairvoyants)
}

// studyColumns has a row for each cell.
func studyColumns(cells []study.Cell) []column {
	all := []column{{head: "GB", left: true}, {head: "policy", left: true}}
	for i := range cells {
		all[0].cells = append(all[0].cells, float64(cells[i].PoolMB)/mbPerGB)
		all[1].cells = append(all[1].cells, cells[i].Policy)
	}
	for _, f := range usedFigures(cells) {
		c := column{head: f.head, rank: f.rank}
		for i := range cells {
			c.cells = append(c.cells, f.show(&cells[i]))
		}
		all = append(all, c)
	}
	return all
}

// poolBreaks are the rows with which another pool size begins.
func poolBreaks(cells []study.Cell) []int {
	var rows []int
	for i := 1; i < len(cells); i++ {
		if cells[i].PoolMB != cells[i-1].PoolMB {
			rows = append(rows, i)
		}
	}
	return rows
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
		if f.rank == hidden {
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
