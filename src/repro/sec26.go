package repro

import (
	"fmt"
	"math"

	"github.com/open-lambda/open-lambda/src/repro/plot"
)

func sec26() Figure {
	return Figure{
		ID: "sec2.6", Title: "Variance of execution times", Where: "section 2.6", Ran: "trace analysis",
		Note: "The paper says that most functions have \"a marginally high variance of 25 %\". Read here as: the standard deviation is at least 25 % of the mean, over the requests of a function with at least 10. s1, execution times from its percentiles.",
		Draw: func(d *Data) (*Report, error) {
			t := Table{Title: "functions whose execution times vary by at least v (%)", Keys: []string{"v"}}
			for _, v := range []float64{10, 25, 50, 100} {
				row := Row{Key: []string{text(v) + " %"}, Paper: none(), Ours: d.interval(func(seed uint64) float64 { return varied(d, v, seed) })}
				if v == 25 {
					row.Paper = 68
				}
				t.Rows = append(t.Rows, row)
			}
			return &Report{Tables: []Table{t}, Charts: []Drawing{{"sec2.6", plot.Chart{
				Title: t.Title, X: plot.Axis{Label: "standard deviation over mean, at least"}, Y: plot.Axis{Label: "functions (%)"}, Bars: fromRows(t.Rows, true),
			}}}}, nil
		},
		Claims: func(Scene) []Claim {
			return []Claim{
				about("section 2.6", "68 % of the Azure functions vary by 25 %", 68, func(d *Data, seed uint64) float64 { return varied(d, 25, seed) }),
				order("section 2.6", "most functions do", "points", func(d *Data, seed uint64) float64 { return varied(d, 25, seed) - 50 }),
				untestable("section 2.6", "59 % of the FC functions do", "%", 59, "the FC trace was not published", nil),
			}
		},
	}
}

// varied is the share of functions (%) whose coefficient of variation is at
// least percent.
func varied(d *Data, percent float64, seed uint64) float64 {
	curve := once(d, fmt.Sprintf("variation %d", seed), func() []float64 { return variations(d.real("s1", 0, seed)) })
	n := 0
	for _, v := range curve {
		if 100*v >= percent {
			n++
		}
	}
	return 100 * float64(n) / float64(max(1, len(curve)))
}

// leastCalls makes a standard deviation mean something.
const leastCalls = 10

func variations(c called) []float64 {
	n, sum, squares := make([]float64, len(c.functions)), make([]float64, len(c.functions)), make([]float64, len(c.functions))
	for _, inv := range c.all {
		x := inv.Exec.Seconds()
		n[inv.Function]++
		sum[inv.Function] += x
		squares[inv.Function] += x * x
	}
	var all []float64
	for i := range n {
		if n[i] < leastCalls || sum[i] == 0 {
			continue
		}
		mean := sum[i] / n[i]
		all = append(all, math.Sqrt(max(0, squares[i]/n[i]-mean*mean))/mean)
	}
	return all
}
