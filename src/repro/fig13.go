package repro

import (
	"github.com/open-lambda/open-lambda/src/repro/plot"
)

func fig13() Figure {
	return Figure{
		ID: "fig13", Title: "Invocation overhead and end-to-end time at 100 GB", Where: "Fig. 13, section 5.1", Ran: "testbed of three nodes",
		Points: func(s Scene) []Point {
			return append(points(s, s.Azure, contenders(), defaultGB), points(s, s.FC, contenders(), defaultGB)...)
		},
		Draw:   drawFig13,
		Claims: fig13Claims,
	}
}

// part13 is one of the four charts.
type part13 struct {
	name, title, axis, prefix, key string
	workload                       string
	of                             func(*Measured) Curve
	most                           float64 // of the axis, ms
}

func parts13(s Scene) []part13 {
	total := func(m *Measured) Curve { return m.Total }
	return []part13{
		{"fig13a", "(a) invocation overhead, Azure", "invocation overhead (ms)", "overhead", "azure", s.Azure, waits, 700},
		{"fig13b", "(b) invocation overhead, FC", "invocation overhead (ms)", "overhead", "fc", s.FC, waits, 700},
		{"fig13c", "(c) end-to-end time, Azure", "end-to-end time (ms)", "e2e", "azure", s.Azure, total, 1000},
		{"fig13d", "(d) end-to-end time, FC", "end-to-end time (ms)", "e2e", "fc", s.FC, total, 1000},
	}
}

func drawFig13(d *Data) (*Report, error) {
	values, err := paper("fig13")
	if err != nil {
		return nil, err
	}
	r := &Report{}
	for _, part := range parts13(d.Scene) {
		t := Table{Title: part.title, Keys: []string{"policy", "quantile"}}
		ch := plot.Chart{Title: part.title, X: plot.Axis{Label: part.axis, Min: 0, Max: part.most}, Y: plot.Axis{Label: "share of requests", Min: 0, Max: 1}}
		var marks []plot.Series
		for _, c := range contenders() {
			p := c.at(d.Scene, part.workload, defaultGB)
			ch.Series = append(ch.Series, distribution(c, d.curve(p, part.of)))
			rows, at := quantileRows(d, p, []string{c.name}, part.of, func(q string) float64 {
				return values.value(part.prefix+"_"+q+"_ms", "policy", c.paper, "workload", part.key)
			})
			t.Rows = append(t.Rows, rows...)
			if c.paper != "" && c.name != "CIDRE literal" {
				marks = append(marks, quantileMarks(c, at))
			}
		}
		ch.Series = append(ch.Series, marks...)
		r.Tables = append(r.Tables, t)
		r.Charts = append(r.Charts, Drawing{part.name, ch})
	}
	return r, nil
}

func fig13Claims(s Scene) []Claim {
	quantile := func(q float64) func(*Measured) float64 {
		return func(m *Measured) float64 { return m.Total.At(q) }
	}
	at := func(name string) Point { return only(name)[0].at(s, s.Azure, defaultGB) }
	const where = "section 5.1"
	all := []Claim{
		near(where, "FaasCache's median end-to-end time is 342 ms", "ms", 342.23, of(at("FaasCache"), quantile(0.5))),
		near(where, "FaasCache's 90th percentile is 549 ms", "ms", 548.89, of(at("FaasCache"), quantile(0.9))),
		near(where, "CodeCrunch's median end-to-end time is 331 ms", "ms", 330.5, of(at("CodeCrunch"), quantile(0.5))),
		near(where, "CodeCrunch's 90th percentile is 542 ms", "ms", 542.43, of(at("CodeCrunch"), quantile(0.9))),
	}
	for _, c := range readings() {
		all = append(
			all,
			near(where, c.name+"'s median end-to-end time is 250 ms", "ms", 249.76, of(at(c.name), quantile(0.5))),
			near(where, c.name+"'s 90th percentile is 438 ms", "ms", 438.32, of(at(c.name), quantile(0.9))),
		)
	}
	return append(append(all, medianClaims(s, s.Azure, "Fig. 13 (a)", "Fig. 13 (c)")...), medianClaims(s, s.FC, "Fig. 13 (b)", "Fig. 13 (d)")...)
}

// medianClaims are the orders of the medians on a workload: of the overheads, which a
// figure shows, and of the end-to-end times.
func medianClaims(s Scene, workload, overheads, totals string) []Claim {
	lower := func(where, what string, a, b contender, of func(*Measured) Curve) Claim {
		return order(where, a.name+" has a lower median "+what+" than "+b.name+on(s, workload), "ms",
			less(a.at(s, workload, defaultGB), b.at(s, workload, defaultGB), func(m *Measured) float64 { return of(m).At(0.5) }))
	}
	total := func(m *Measured) Curve { return m.Total }
	faas, bss, offline := only("FaasCache")[0], only("CIDRE_BSS")[0], only("Offline")[0]
	all := []Claim{
		lower(overheads, "overhead", bss, faas, waits),
		lower(totals, "end-to-end time", bss, faas, total),
	}
	for _, c := range readings() {
		all = append(
			all,
			lower(overheads, "overhead", c, bss, waits),
			lower(totals, "end-to-end time", c, faas, total),
			lower(totals, "end-to-end time", offline, c, total),
		)
	}
	return all
}
