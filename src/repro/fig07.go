package repro

import (
	"fmt"

	"github.com/open-lambda/open-lambda/src/repro/plot"
)

const whatIfNote = "The paper ran this on 24 h of 750 functions with a cache whose size it does not give; here it is the half hour of the other figures, with 100 GB."

func queues(s Scene) []Point {
	var all []Point
	for l := range 3 {
		all = append(all, s.at(s.Azure, fmt.Sprintf("queue-length:L=%d", l), defaultGB))
	}
	return all
}

func fig7() Figure {
	return Figure{
		ID: "fig7", Title: "Queue length of busy sandboxes", Where: "Fig. 7, section 2.4", Ran: "simulator", Note: whatIfNote,
		Points: queues,
		Draw:   drawFig7,
		Claims: func(s Scene) []Claim {
			q := queues(s)
			return []Claim{
				order("section 2.4", "one waiting request per sandbox has less overhead than none (FaasCache)", "points", less(q[1], q[0], overhead)),
				apart("section 2.4", "it has 9.3 % less", 9.3, reduction(q[1], q[0], overhead)),
				order("section 2.4", "two have more overhead than none", "points", less(q[0], q[2], overhead)),
				order("section 2.4", "warm starts become fewer with the length", "points", least(less(q[1], q[0], warm), less(q[2], q[1], warm))),
			}
		},
	}
}

func served(m *Measured) float64 { return warm(m) + delayed(m) }

func drawFig7(d *Data) (*Report, error) {
	values, err := paper("fig07")
	if err != nil {
		return nil, err
	}
	t := Table{Title: "queue length L, Azure, 100 GB", Keys: []string{"L", "value"}}
	for l, p := range queues(d.Scene) {
		for _, k := range []kind{{"overhead ratio (%)", "avg_overhead_ratio_pct", overhead}, {"warm (%)", "warm_pct", warm}, {"warm or delayed (%)", "warm_plus_delayed_pct", served}} {
			t.Rows = append(t.Rows, Row{Key: []string{fmt.Sprintf("L = %d", l), k.name}, Ours: d.over(p, k.of), Paper: values.value(k.column, "queue_length", fmt.Sprint(l))})
		}
	}
	return barsOf(t, "fig7", "%"), nil
}

func fig8() Figure {
	pair := []contender{{"FaasCache", "FaasCache", "faascache", 0}, {"FaasCache-C", "FaasCache-C", "faascache-c", 0}}
	return Figure{
		ID: "fig8", Title: "Eviction that knows concurrency", Where: "Fig. 8, section 2.4", Ran: "simulator", Note: whatIfNote,
		Points: func(s Scene) []Point { return points(s, s.Azure, pair, defaultGB) },
		Draw: func(d *Data) (*Report, error) {
			values, err := paper("fig08")
			if err != nil {
				return nil, err
			}
			t := Table{Title: "FaasCache and FaasCache-C, Azure, 100 GB", Keys: []string{"policy", "value"}}
			for _, c := range pair {
				for _, k := range []kind{{"overhead ratio (%)", "avg_overhead_ratio_pct", overhead}, {"warm (%)", "warm_pct", warm}} {
					t.Rows = append(t.Rows, Row{Key: []string{c.name, k.name}, Ours: d.over(c.at(d.Scene, d.Azure, defaultGB), k.of), Paper: values.value(k.column, "policy", c.paper)})
				}
			}
			return barsOf(t, "fig8", "%"), nil
		},
		Claims: func(s Scene) []Claim {
			plain, c := s.at(s.Azure, "faascache", defaultGB), s.at(s.Azure, "faascache-c", defaultGB)
			more := func(d *Data, seed uint64) float64 { return 100 * (warm(d.get(c, seed))/warm(d.get(plain, seed)) - 1) }
			return []Claim{
				order("section 2.4", "FaasCache-C has less overhead than FaasCache", "points", less(c, plain, overhead)),
				apart("section 2.4", "it has 11.8 % less", 11.8, reduction(c, plain, overhead)),
				apart("section 2.4", "it has 9 % more warm starts", 9, more),
			}
		},
	}
}

// barsOf draws a table as bars.
func barsOf(t Table, name, axis string) *Report {
	return &Report{Tables: []Table{t}, Charts: []Drawing{{name, plot.Chart{Title: t.Title, Y: plot.Axis{Label: axis}, Bars: fromRows(t.Rows, true)}}}}
}
