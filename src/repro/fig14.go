package repro

import (
	"github.com/open-lambda/open-lambda/src/repro/plot"
)

// productionGB is what the 1,500 instances of section 5.2 hold, at the paper's
// 448 MB each.
const productionGB = 672

func production(s Scene) []contender {
	return []contender{
		{"BSS on", "on", "ttl:scaler=bss", 0},
		{"BSS off", "off", "ttl", 1},
	}
}

func fig14() Figure {
	return Figure{
		ID: "fig14", Title: "Simulated analogue of the production cluster", Where: "Fig. 14, section 5.2", Ran: "production cluster of Alibaba FC",
		Note: "SIMULATED ANALOGUE. The production cluster cannot be had: this is the generated FC workload on one pool, a keep-alive of 10 minutes, with and without BSS. Its 672 GB are what the 1,500 instances of section 5.2 hold.",
		Points: func(s Scene) []Point {
			return points(s, s.FC, production(s), productionGB)
		},
		Draw: drawFig14,
		Claims: func(s Scene) []Claim {
			cs := production(s)
			on, off := cs[0].at(s, s.FC, productionGB), cs[1].at(s, s.FC, productionGB)
			const why = "it was measured on a production cluster; what is shown is a simulated analogue"
			const undefined = "; - means that it is 0 without BSS with one of the seeds: undefined, there is nothing to reduce"
			p99 := func(m *Measured) float64 { return m.Wait.At(0.99) }
			return []Claim{
				untestable("section 5.2", "BSS reduces the cold ratio by 34.5 %", "%", 34.5, why, reduction(on, off, cold)),
				untestable("section 5.2", "BSS reduces the 99th percentile of the overhead by 10.0 %", "%", 10.01, why+undefined, reduction(on, off, p99)),
			}
		},
	}
}

func drawFig14(d *Data) (*Report, error) {
	values, err := paper("fig14")
	if err != nil {
		return nil, err
	}
	t := Table{Title: "simulated analogue, 672 GB", Keys: []string{"BSS", "value"}}
	ch := plot.Chart{
		Title: "SIMULATED ANALOGUE: overhead with BSS on and off", X: plot.Axis{Label: "invocation overhead (ms)", Min: 0, Max: 500},
		Y: plot.Axis{Label: "share of requests", Min: 0.95, Max: 1},
	}
	var marks []plot.Series
	for _, c := range production(d.Scene) {
		p := c.at(d.Scene, d.FC, productionGB)
		curve := distribution(c, d.curve(p, waits))
		curve.Every = 2
		ch.Series = append(ch.Series, curve)
		rows, at := quantileRows(d, p, []string{c.name}, waits, func(q string) float64 { return values.value(q+"_ms", "bss", c.paper) })
		t.Rows = append(t.Rows, rows...)
		t.Rows = append(t.Rows, Row{Key: []string{c.name, "cold (%)"}, Ours: d.over(p, cold), Paper: values.value("cold_pct", "bss", c.paper)})
		marks = append(marks, quantileMarks(c, at))
	}
	ch.Series = append(ch.Series, marks...)
	return &Report{Tables: []Table{t}, Charts: []Drawing{{"fig14", ch}}}, nil
}
