package repro

import (
	"fmt"

	"github.com/open-lambda/open-lambda/src/repro/plot"
	"github.com/open-lambda/open-lambda/src/trace"
)

func execs() []float64 { return []float64{1, 1.5, 2} }

// lasting changes execution times.
func lasting(p Point, exec float64) Point {
	p.Exec = exec
	return p
}

func slowed() []contender { return only("CIDRE", "CIDRE literal", "cidre+", "LRU", "FaasCache") }

func fig20Points(s Scene) []Point {
	return crossed(points(s, s.Azure, slowed(), defaultGB), lasting, execs())
}

func fig20() Figure {
	return Figure{
		ID: "fig20", Title: "Execution times", Where: "Fig. 20, section 5.5", Ran: "testbed of three nodes",
		Points: fig20Points,
		Draw: func(d *Data) (*Report, error) {
			t, err := fig20Rows(d, []kind{{"overhead (ms)", "avg_overhead_ms", waitMean}})
			if err != nil {
				return nil, err
			}
			t.Title = "average overhead (ms) by factor on execution times, Azure, 100 GB"
			return &Report{Tables: []Table{t}, Charts: []Drawing{{"fig20", plot.Chart{
				Title: t.Title, X: plot.Axis{Label: "factor on execution times"}, Y: plot.Axis{Label: "average overhead (ms)"}, Bars: fromRows(t.Rows, true),
			}}}}, nil
		},
		Claims: fig20Claims,
	}
}

// kind is a value with its column in the paper's file.
type kind struct {
	name, column string
	of           func(*Measured) float64
}

func fig20Rows(d *Data, kinds []kind) (Table, error) {
	values, err := paper("fig20")
	t := Table{Keys: []string{"factor", "policy", "value"}}
	if err != nil {
		return t, err
	}
	for _, exec := range execs() {
		for _, c := range slowed() {
			for _, k := range kinds {
				t.Rows = append(t.Rows, Row{
					Key: []string{text(exec) + "x", c.name, k.name}, Ours: d.over(lasting(c.at(d.Scene, d.Azure, defaultGB), exec), k.of),
					Paper:  values.value(k.column, "policy", c.paper, "exec_factor", text(exec)),
					Fitted: exec == 1 && k.column == "cold_pct" && fits(d.Azure, c.policy, trace.Cold, defaultGB),
				})
			}
		}
	}
	return t, nil
}

func fig20Claims(s Scene) []Claim {
	const where = "Fig. 20"
	var all []Claim
	theirs := map[string][]float64{"FaasCache": {155, 171, 193}, "LRU": {162, 178, 194}, "CIDRE": {73, 90, 107}, "CIDRE literal": {73, 90, 107}}
	for _, c := range slowed() {
		for i, exec := range execs() {
			if ms := theirs[c.name]; ms != nil {
				all = append(all, near(where, fmt.Sprintf("%s: %v ms at %vx", c.name, ms[i], exec), "ms", ms[i],
					of(lasting(c.at(s, s.Azure, defaultGB), exec), waitMean)))
			}
		}
	}
	for _, c := range only("CIDRE", "CIDRE literal", "LRU", "FaasCache") {
		all = append(all, order("section 5.5", c.name+" waits longer the longer executions are", "ms",
			rises(c.at(s, s.Azure, defaultGB), lasting, execs(), waitMean)))
	}
	for _, c := range readings() {
		var ahead []measure
		for _, exec := range execs() {
			ahead = append(ahead, less(lasting(c.at(s, s.Azure, defaultGB), exec), lasting(only("FaasCache")[0].at(s, s.Azure, defaultGB), exec), waitMean))
		}
		all = append(all, order(where, c.name+" waits less than FaasCache at every factor", "ms", least(ahead...)))
	}
	return all
}

func table2() Figure {
	return Figure{
		ID: "table2", Title: "Kinds of start by execution time", Where: "Table 2, section 5.5", Ran: "testbed of three nodes",
		Points: fig20Points,
		Draw: func(d *Data) (*Report, error) {
			kinds := []kind{{"cold (%)", "cold_pct", cold}, {"warm (%)", "warm_pct", warm}, {"delayed (%)", "delayed_pct", delayed}}
			t, err := fig20Rows(d, kinds)
			if err != nil {
				return nil, err
			}
			t.Title = "kinds of start (%) by factor on execution times, Azure, 100 GB"
			return &Report{Tables: []Table{t}, Charts: []Drawing{{"table2", table2Chart(t)}}}, nil
		},
		Claims: table2Claims,
	}
}

// table2Chart stacks the rows of the table, three to a bar.
func table2Chart(t Table) plot.Chart {
	b := &plot.Bars{Bars: []string{"C", "L", "+", "LRU", "F"}, Parts: []string{"cold", "delayed", "warm"}, Fill: plot.Fills(3)}
	for _, c := range slowed() {
		b.Data = append(b.Data, c.name)
	}
	n := len(b.Bars)
	for i := 0; i < len(t.Rows); i += 3 {
		if (i/3)%n == 0 {
			b.Groups = append(b.Groups, t.Rows[i].Key[0])
			b.Value, b.Paper = append(b.Value, nil), append(b.Paper, nil)
		}
		g, r := len(b.Groups)-1, t.Rows[i:i+3]
		b.Value[g] = append(b.Value[g], []float64{r[0].Ours.Mean, r[2].Ours.Mean, r[1].Ours.Mean})
		b.Paper[g] = append(b.Paper[g], []float64{r[0].Paper, r[2].Paper, r[1].Paper})
	}
	return plot.Chart{
		Title: t.Title, X: plot.Axis{Label: "factor on execution times; C CIDRE,\nL CIDRE literal, + cidre+, F FaasCache"},
		Y: plot.Axis{Label: "requests (%)", Min: 0, Max: 100}, Bars: b,
	}
}

func table2Claims(s Scene) []Claim {
	const where = "section 5.5"
	share := func(m *Measured) float64 { return 100 * m.Result.DelayedRatio / max(1e-9, 1-m.Result.WarmRatio) }
	var all []Claim
	for _, c := range readings() {
		at := func(exec float64) Point { return lasting(c.at(s, s.Azure, defaultGB), exec) }
		all = append(
			all,
			about(where, c.name+": 70.4 % of the starts that are not warm are delayed at 1x", 70.4, of(at(1), share)),
			about(where, c.name+": 71.4 % at 1.5x", 71.4, of(at(1.5), share)),
			about(where, c.name+": 69.9 % at 2x", 69.9, of(at(2), share)),
		)
	}
	for _, c := range only("CIDRE", "CIDRE literal", "FaasCache", "LRU") {
		all = append(all, coldClaims(s, c)...)
	}
	return all
}

// coldClaims are those about the cold starts of a policy by execution time.
func coldClaims(s Scene, c contender) []Claim {
	p := c.at(s, s.Azure, defaultGB)
	all := []Claim{order("section 5.5", c.name+": more cold starts the longer executions are", "points", rises(p, lasting, execs(), cold))}
	theirs := map[string][]float64{"CIDRE": {18.5, 22.3, 27.6}, "CIDRE literal": {18.5, 22.3, 27.6}, "FaasCache": {74.4, 82.2, 92.6}, "LRU": {78.3, 85.5, 93.2}}
	for i, exec := range execs() {
		claim := about("Table 2", fmt.Sprintf("%s: %.1f %% cold at %vx", c.name, theirs[c.name][i], exec), theirs[c.name][i], of(lasting(p, exec), cold))
		if exec == 1 {
			claim = claim.usingAt(s.Azure, trace.Cold, defaultGB, c.policy)
		}
		all = append(all, claim)
	}
	return all
}
