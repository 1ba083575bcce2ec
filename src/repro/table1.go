package repro

import (
	"slices"
	"strings"

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
				if _, err := d.describe(w.name, d.Seeds[0]); err != nil {
					return nil, err
				}
				for _, v := range table1Values() {
					theirs := none()
					if w.paper != "" {
						theirs = values.value(v.column, "trace", w.paper)
					}
					t.Rows = append(t.Rows, d.row([]string{w.name, w.paper, v.name}, theirs, v.source(w.name), describeMeasure(w.name, v.of)))
				}
			}
			return &Report{Tables: []Table{t}}, nil
		},
		Claims: func(s Scene) []Claim {
			average := func(text string, theirs float64, workload string) Claim {
				v := table1Values()[1]
				return untestable("Table 1", text, "requests/s", theirs, "the traces were not published", describeMeasure(workload, v.of)).from(v.source(workload))
			}
			return []Claim{
				average("24h AF has 170 requests/s on average", 170, "s1"),
				average("30m AF has 1,795 requests/s on average", 1795, "s2"),
				average("30m FC has 1,525 requests/s on average", 1525, s.FC),
			}
		},
	}
}

func describeMeasure(name string, value func(trace.Statistics) float64) measure {
	return func(d *Data, seed uint64) float64 {
		s, err := d.describe(name, seed)
		if err != nil {
			return none()
		}
		return value(s)
	}
}

type statistic struct {
	name, column string
	of           func(trace.Statistics) float64
	// Whether seeds leave it alone: in real counts, in generated workloads.
	counted, given bool
}

// source is where the value comes from in a workload if no seed changes it.
func (v statistic) source(workload string) string {
	base, _, _ := strings.Cut(strings.ReplaceAll(workload, "-sigma", ":"), ":")
	switch {
	case v.given && slices.Contains(trace.Generated(), base):
		return parameter
	case v.counted && (base == "s1" || base == "s2"):
		return theData
	}
	return ""
}

func table1Values() []statistic {
	return []statistic{
		{"requests", "requests", func(s trace.Statistics) float64 { return float64(s.Requests) }, true, true},
		{"requests/s", "rps_avg", func(s trace.Statistics) float64 { return s.RPS.Mean }, true, true},
		{"requests/s, least", "rps_min", func(s trace.Statistics) float64 { return s.RPS.Min }, false, false},
		{"requests/s, most", "rps_max", func(s trace.Statistics) float64 { return s.RPS.Max }, false, false},
		{"GB/s", "gbps_avg", func(s trace.Statistics) float64 { return s.GBps.Mean }, true, false},
		{"GB/s, least", "gbps_min", func(s trace.Statistics) float64 { return s.GBps.Min }, false, false},
		{"GB/s, most", "gbps_max", func(s trace.Statistics) float64 { return s.GBps.Max }, false, false},
	}
}
