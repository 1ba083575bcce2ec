package repro

import (
	"fmt"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/src/repro/plot"
	"github.com/open-lambda/open-lambda/src/sim/study"
)

const opportunityNote = "s2 with uneven seconds (sigma 1): 604k requests to 330 functions, which were not simultaneous. The paper's 30m AF has 3.2 million requests, so its counts are larger; a cold start costs 1.7 ms per MB."

// factors of Figs 9 and 10, with the names of the paper's curves.
type factor struct {
	name, paper string
	cold, exec  float64
}

func coldFactors() []factor {
	return []factor{
		{"cold start x1", "1.0x_cold", 1, 1},
		{"cold start x0.75", "0.75x_cold", 0.75, 1},
		{"cold start x0.5", "0.5x_cold", 0.5, 1},
		{"cold start x0.25", "0.25x_cold", 0.25, 1},
	}
}

func execFactors() []factor {
	return []factor{
		{"execution x1", "1.0x_exec", 1, 1}, {"execution x1.5", "1.5x_exec", 1, 1.5}, {"execution x2", "2.0x_exec", 1, 2},
	}
}

func fig9() Figure {
	return Figure{
		ID: "fig9", Title: "Opportunities for delayed warm starts, by cold start", Where: "Fig. 9, section 2.5", Ran: "arithmetic on the trace", Note: opportunityNote,
		Draw: func(d *Data) (*Report, error) {
			return drawOpportunities(d, "fig9", "by factor on cold starts", coldFactors())
		},
		Claims: func(Scene) []Claim {
			above := func(f factor) measure {
				return func(d *Data, seed uint64) float64 { return 100 * (1 - opportunities(d, f, seed).Share(25)) }
			}
			var falls []measure
			fs := coldFactors()
			for i := 1; i < len(fs); i++ {
				falls = append(falls, func(d *Data, seed uint64) float64 { return above(fs[i-1])(d, seed) - above(fs[i])(d, seed) })
			}
			return []Claim{
				order("section 2.5", "fewer requests have more than 25 opportunities the shorter cold starts are", "points", least(falls...)),
				untestable("section 2.5", "at 0.25x about 60 % of requests have more than 25 opportunities", "%", 60,
					"the number follows from the requests per function of a trace that was not published", above(fs[3])),
			}
		},
	}
}

func fig10() Figure {
	return Figure{
		ID: "fig10", Title: "Opportunities for delayed warm starts, by execution time", Where: "Fig. 10, section 2.5", Ran: "arithmetic on the trace", Note: opportunityNote,
		Draw: func(d *Data) (*Report, error) {
			r, err := drawOpportunities(d, "fig10", "by factor on execution times", execFactors())
			if err == nil {
				r.Text = append(r.Text, weakness(r.Tables[0]))
			}
			return r, err
		},
		Claims: func(Scene) []Claim {
			// Five points are what is tolerated of any share that is claimed to be 0; the
			// paper's curves are half a point apart.
			same := within("section 2.5", "execution times do not matter: greatest distance of the curves", "points", 0, 5, func(d *Data, seed uint64) float64 {
				one, most := opportunities(d, execFactors()[0], seed), 0.0
				for _, f := range execFactors()[1:] {
					most = max(most, 100*one.distance(opportunities(d, f, seed)))
				}
				return most
			})
			same.caveat = "weak: most requests here have few opportunities, which leaves the curves little to differ in"
			return []Claim{same}
		},
	}
}

// weakness says how little the claim of Fig. 10 can show on our requests, from its
// first and third row: the curve as it is at 0 and at 25.
func weakness(t Table) string {
	zero, few := t.Rows[0], t.Rows[2]
	return fmt.Sprintf("The claim is weak here: %s %% of our requests have no opportunity at all (%s %% of the paper's) and %s %% at most 25 (%s %%), so the curves have little left to differ in.",
		interval(zero.Ours), number(zero.Paper), interval(few.Ours), number(few.Paper))
}

// opportunities counts, for each request that arrives at t, the other requests
// of its function that complete in [t, t + cold start] if none ever waits.
func opportunities(d *Data, f factor, seed uint64) Samples {
	return once(d, fmt.Sprintf("opportunities %v %v %d", f.cold, f.exec, seed), func() Samples {
		c := d.real("s2", 1, seed)
		ends := make([][]time.Duration, len(c.functions))
		for _, inv := range c.all {
			ends[inv.Function] = append(ends[inv.Function], inv.At+time.Duration(float64(inv.Exec)*f.exec))
		}
		for i := range ends {
			slices.Sort(ends[i])
		}
		counts := make([]float64, len(c.all))
		for i, inv := range c.all {
			cold := time.Duration(float64(coldStart(c.functions[inv.Function], 1700*time.Microsecond)) * f.cold)
			from, _ := slices.BinarySearch(ends[inv.Function], inv.At)
			to, _ := slices.BinarySearch(ends[inv.Function], inv.At+cold+1)
			n := to - from
			if time.Duration(float64(inv.Exec)*f.exec) <= cold {
				n-- // itself
			}
			counts[i] = float64(n)
		}
		return newSamples(counts)
	})
}

func drawOpportunities(d *Data, name, what string, fs []factor) (*Report, error) {
	values, err := paper("fig09")
	if err != nil {
		return nil, err
	}
	t := Table{Title: "share of requests (%) with at most n opportunities, " + what, Keys: []string{"curve", "n"}}
	ch := plot.Chart{
		Title: "Opportunities, " + what, X: plot.Axis{Label: "opportunities of a request", Min: 0, Max: 200},
		Y: plot.Axis{Label: "share of requests", Min: 0, Max: 1},
	}
	var marks []plot.Series
	for i, f := range fs {
		c := contender{name: f.name, style: i}
		var curves []Curve
		for _, seed := range d.Seeds {
			curves = append(curves, opportunities(d, f, seed).Curve())
		}
		ch.Series = append(ch.Series, distribution(c, meanCurve(curves)))
		m := plot.Series{Data: f.name, Style: plot.StyleOf(i), Hollow: true}
		for _, n := range []int{0, 10, 25, 50, 100, 150, 200} {
			row := Row{
				Key: []string{f.name, fmt.Sprint(n)}, Paper: 100 * values.value(fmt.Sprintf("cdf_%d", n), "series", f.paper),
				Ours: d.interval(func(seed uint64) float64 { return 100 * opportunities(d, f, seed).Share(float64(n)) }),
			}
			t.Rows = append(t.Rows, row)
			m.X, m.Y = append(m.X, float64(n)), append(m.Y, row.Paper/100)
		}
		marks = append(marks, m)
	}
	ch.Series = append(ch.Series, marks...)
	return &Report{Tables: []Table{t}, Charts: []Drawing{{name, ch}}}, nil
}

// single is a value without an interval.
func single(v float64) study.Interval { return study.NewInterval([]float64{v}) }
