package repro

import (
	"github.com/open-lambda/open-lambda/src/trace"
)

func table1() Figure {
	return Figure{
		ID: "table1", Title: "Statistics of the workloads", Where: "Table 1, section 2.2", Ran: "trace analysis",
		Note: "The paper's traces were not published. Stood beside them: s1 (real counts of 312 functions, for 24h AF), s2 (real counts, not simultaneous, for 30m AF) and the generated FC workload (for 30m FC); and the Azure workload of the other figures, for the paper's sample of 330 functions and about 598k requests.",
		Draw: func(d *Data) (*Report, error) {
			values, err := paper("table1")
			if err != nil {
				return nil, err
			}
			t := Table{Title: "workloads", Keys: []string{"trace", "stands for", "value"}}
			for _, w := range []struct{ name, paper string }{{"s1", "24h AF"}, {"s2", "30m AF"}, {d.FC, "30m FC"}, {d.Azure, ""}} {
				s, err := d.describe(w.name, d.Seeds[0])
				if err != nil {
					return nil, err
				}
				for _, v := range table1Values() {
					row := Row{Key: []string{w.name, w.paper, v.name}, Ours: single(v.of(s)), Paper: none()}
					if w.paper != "" {
						row.Paper = values.value(v.column, "trace", w.paper)
					}
					t.Rows = append(t.Rows, row)
				}
			}
			return &Report{Tables: []Table{t}}, nil
		},
		Claims: func(s Scene) []Claim {
			const why = "the traces were not published"
			return []Claim{
				untestable("Table 1", "24h AF has 170 requests/s on average", "requests/s", 170, why, describeMeasure("s1")),
				untestable("Table 1", "30m AF has 1,795 requests/s on average", "requests/s", 1795, why, describeMeasure("s2")),
				untestable("Table 1", "30m FC has 1,525 requests/s on average", "requests/s", 1525, why, describeMeasure(s.FC)),
			}
		},
	}
}

func describeMeasure(name string) measure {
	return func(d *Data, seed uint64) float64 {
		s, err := d.describe(name, seed)
		if err != nil {
			return none()
		}
		return s.RPS.Mean
	}
}

type statistic struct {
	name, column string
	of           func(trace.Statistics) float64
}

func table1Values() []statistic {
	return []statistic{
		{"requests", "requests", func(s trace.Statistics) float64 { return float64(s.Requests) }},
		{"requests/s", "rps_avg", func(s trace.Statistics) float64 { return s.RPS.Mean }},
		{"requests/s, least", "rps_min", func(s trace.Statistics) float64 { return s.RPS.Min }},
		{"requests/s, most", "rps_max", func(s trace.Statistics) float64 { return s.RPS.Max }},
		{"GB/s", "gbps_avg", func(s trace.Statistics) float64 { return s.GBps.Mean }},
		{"GB/s, least", "gbps_min", func(s trace.Statistics) float64 { return s.GBps.Min }},
		{"GB/s, most", "gbps_max", func(s trace.Statistics) float64 { return s.GBps.Max }},
	}
}
