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
	median := func(m *Measured) float64 { return m.Wait.At(0.5) }
	faas, bss, crunch, offline := only("FaasCache")[0], only("CIDRE_BSS")[0], only("CodeCrunch")[0], only("Offline")[0]
	at := func(c contender) Point { return c.at(s, s.Azure, defaultGB) }
	const where = "section 5.1"
	all := []Claim{
		near(where, "FaasCache's median end-to-end time is 342 ms", "ms", 342.23, of(at(faas), quantile(0.5))),
		near(where, "FaasCache's 90th percentile is 549 ms", "ms", 548.89, of(at(faas), quantile(0.9))),
		near(where, "CodeCrunch's median end-to-end time is 331 ms", "ms", 330.5, of(at(crunch), quantile(0.5))),
		near(where, "CodeCrunch's 90th percentile is 542 ms", "ms", 542.43, of(at(crunch), quantile(0.9))),
		order("Fig. 13 (a)", "CIDRE_BSS has a lower median overhead than FaasCache", "ms", less(at(bss), at(faas), median)),
	}
	for _, c := range readings() {
		all = append(
			all,
			near(where, c.name+"'s median end-to-end time is 250 ms", "ms", 249.76, of(at(c), quantile(0.5))),
			near(where, c.name+"'s 90th percentile is 438 ms", "ms", 438.32, of(at(c), quantile(0.9))),
			order("Fig. 13 (a)", c.name+" has a lower median overhead than CIDRE_BSS", "ms", less(at(c), at(bss), median)),
			order("Fig. 13 (c)", c.name+" has a lower median end-to-end time than FaasCache", "ms", less(at(c), at(faas), quantile(0.5))),
			order("Fig. 13 (c)", "Offline has a lower median end-to-end time than "+c.name, "ms", less(at(offline), at(c), quantile(0.5))),
		)
	}
	return all
}
