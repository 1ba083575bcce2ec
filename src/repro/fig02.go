package repro

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/src/repro/plot"
	"github.com/open-lambda/open-lambda/src/trace"
)

func fig2() Figure {
	return Figure{
		ID: "fig2", Title: "Cold start over execution time", Where: "Fig. 2, section 2.2", Ran: "trace analysis",
		Note: "s1: the busiest half hour of a public 500-function sample of Azure Functions 2019; the paper drew 750 functions of its first day. The paper does not say whether its Azure curves are over functions or over requests: both are shown, functions by their median execution time.",
		Draw: drawFig2,
		Claims: func(Scene) []Claim {
			all := []Claim{
				untestable("section 2.2", "40.4 % of 1,267 cold starts of Alibaba FC take longer than the execution", "%", 40.4,
					"the cold starts of FC were not published", nil),
			}
			for _, over := range []string{"functions", "requests"} {
				for f, share := range []float64{66.4, 53.5, 46.3} {
					all = append(all, about("Fig. 2", fmt.Sprintf("at %d ms per MB the cold start is no longer than the execution for %v %% of the Azure %s", f+1, share, over), share,
						func(d *Data, seed uint64) float64 { return 100 * coldOverExec(d, over, f+1, seed).Share(1) }).from(fig2Source(over)))
				}
			}
			return all
		},
	}
}

// fig2Source is where the values come from if not from seeds: of functions they are
// computed from what the data has, of requests their executions are drawn.
func fig2Source(over string) string {
	if over == "functions" {
		return theData
	}
	return ""
}

// coldOverExec is the distribution over the functions or the requests of s1 of
// cold start over execution time, at a cost in ms per MB.
func coldOverExec(d *Data, over string, perMB int, seed uint64) Samples {
	return once(d, fmt.Sprintf("cold/exec %s %d %d", over, perMB, seed), func() Samples {
		c := d.real("s1", 0, seed)
		if over == "functions" {
			return functionRatios(c.functions, time.Duration(perMB)*time.Millisecond)
		}
		return ratios(c, time.Duration(perMB)*time.Millisecond)
	})
}

func ratio(f trace.Function, perMB, exec time.Duration) float64 {
	return float64(coldStart(f, perMB)) / float64(max(exec, time.Microsecond))
}

func functionRatios(functions []trace.Function, perMB time.Duration) Samples {
	all := make([]float64, len(functions))
	for i, f := range functions {
		all[i] = ratio(f, perMB, f.Exec.At(0.5))
	}
	return newSamples(all)
}

func ratios(c called, perMB time.Duration) Samples {
	all := make([]float64, len(c.all))
	for i, inv := range c.all {
		all[i] = ratio(c.functions[inv.Function], perMB, inv.Exec)
	}
	return newSamples(all)
}

func drawFig2(d *Data) (*Report, error) {
	values, err := paper("fig02")
	if err != nil {
		return nil, err
	}
	r := &Report{}
	for i, over := range []string{"functions", "requests"} {
		t, ch := fig2Part(d, values, over)
		r.Tables = append(r.Tables, t)
		r.Charts = append(r.Charts, Drawing{"fig2" + string("ab"[i]), ch})
	}
	return r, nil
}

func fig2Part(d *Data, values paperTable, over string) (Table, plot.Chart) {
	t := Table{Title: "cold start over execution time, of " + over, Keys: []string{"ms per MB", "quantile"}}
	ch := plot.Chart{
		Title: "Cold start over execution time, Azure (s1), of " + over,
		X:     plot.Axis{Label: "cold start / execution time", Log: true, Min: 1e-3, Max: 1e4},
		Y:     plot.Axis{Label: "share of " + over, Min: 0, Max: 1},
	}
	var marks []plot.Series
	for f := 1; f <= 3; f++ {
		c := contender{name: fmt.Sprintf("%d ms per MB", f), style: f - 1}
		var curves []Curve
		for _, seed := range d.Seeds {
			curves = append(curves, coldOverExec(d, over, f, seed).Curve())
		}
		ch.Series = append(ch.Series, distribution(c, clipped(meanCurve(curves), 1e-3)))
		at := map[float64]float64{}
		for _, q := range quantiles() {
			at[q.share] = values.value(q.name, "series", fmt.Sprintf("azure_%dms_per_mb", f))
			if math.IsNaN(at[q.share]) {
				continue
			}
			t.Rows = append(t.Rows, d.row([]string{fmt.Sprint(f), q.name}, at[q.share], fig2Source(over), func(d *Data, seed uint64) float64 {
				return coldOverExec(d, over, f, seed).At(q.share)
			}))
		}
		marks = append(marks, quantileMarks(c, at))
	}
	ch.Series = append(ch.Series, marks...)
	return t, ch
}

// clipped keeps a curve above the beginning of a logarithmic axis.
func clipped(c Curve, least float64) Curve {
	out := slices.Clone(c)
	for i, v := range out {
		out[i] = math.Max(v, least)
	}
	return out
}

func fig3() Figure {
	return Figure{
		ID: "fig3", Title: "Requests per minute of a function", Where: "Fig. 3, section 2.2", Ran: "trace analysis",
		Note: "Azure: the counts of s1, which are real and were simultaneous. FC: the generated workload; the paper's FC trace was not published.",
		Draw: drawFig3,
		Claims: func(s Scene) []Claim {
			const why = "the FC trace was not published"
			azure := func(q float64) measure { return func(d *Data, _ uint64) float64 { return perMinute(d, "s1").At(q) } }
			return []Claim{
				about("Fig. 3", "a function that is called in a minute is called once, in 56 % of the cases (Azure)", 56,
					func(d *Data, _ uint64) float64 { return 100 * perMinute(d, "s1").Share(1) }).from(theData),
				near("Fig. 3", "the 90th percentile is 59 (Azure)", "requests/min", 59, azure(0.9)).from(theData),
				near("Fig. 3", "the 99th percentile is 873 (Azure)", "requests/min", 873, azure(0.99)).from(theData),
				untestable("section 2.2", "the 90th percentile is 120 (FC)", "requests/min", 120, why, nil),
				untestable("section 2.2", "the 99th percentile is 4,482 (FC)", "requests/min", 4482, why, nil),
			}
		},
	}
}

// perMinute is the distribution over function-minutes with a call. Its counts
// are data: no seed matters.
func perMinute(d *Data, name string) Samples {
	return once(d, "per minute "+name, func() Samples {
		w, err := FindWorkload(name)
		if err != nil {
			panic("repro: " + err.Error())
		}
		var all []float64
		for _, f := range w.Source.Functions {
			for _, n := range f.PerMinute {
				if n > 0 {
					all = append(all, float64(n))
				}
			}
		}
		return newSamples(all)
	})
}

func drawFig3(d *Data) (*Report, error) {
	values, err := paper("fig03")
	if err != nil {
		return nil, err
	}
	t := Table{Title: "requests per minute of a function, in minutes with one", Keys: []string{"trace", "quantile"}}
	ch := plot.Chart{
		Title: "Requests per minute of a function", X: plot.Axis{Label: "requests per minute", Log: true, Min: 1, Max: 1e5},
		Y: plot.Axis{Label: "share of function-minutes", Min: 0, Max: 1},
	}
	if _, err := d.describe(d.FC, d.Seeds[0]); err != nil {
		return nil, err
	}
	var marks []plot.Series
	for i, w := range []struct {
		name, paper, source string
		at                  func(d *Data, seed uint64, share float64) float64
	}{
		{"s1", "azure", theData, func(d *Data, _ uint64, share float64) float64 { return perMinute(d, "s1").At(share) }},
		{d.FC, "fc", "", generatedPerMinute},
	} {
		c := contender{name: w.name, style: i}
		line := plot.Series{Name: c.name, Style: plot.StyleOf(i)}
		at := map[float64]float64{}
		for _, q := range []quantile{{"p10", 0.1}, {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}} {
			row := d.row([]string{w.name, q.name}, values.value(q.name, "series", w.paper), w.source, func(d *Data, seed uint64) float64 { return w.at(d, seed, q.share) })
			line.X, line.Y = append(line.X, row.Ours.Mean), append(line.Y, q.share)
			if q.name == "p10" {
				continue // the paper has none
			}
			at[q.share] = row.Paper
			t.Rows = append(t.Rows, row)
		}
		if w.source == theData {
			line = distribution(c, perMinute(d, w.name).Curve())
		}
		ch.Series = append(ch.Series, line)
		marks = append(marks, quantileMarks(c, at))
	}
	ch.Series = append(ch.Series, marks...)
	return &Report{Tables: []Table{t}, Charts: []Drawing{{"fig3", ch}}}, nil
}

// generatedPerMinute is a quantile of the requests per minute of the workload that
// stands for FC: 0.1, 0.5, 0.9 or 0.99.
func generatedPerMinute(d *Data, seed uint64, share float64) float64 {
	s, err := d.describe(d.FC, seed)
	if err != nil {
		return none()
	}
	q := s.PerMinute
	return map[float64]float64{0.1: q.P10, 0.5: q.P50, 0.9: q.P90, 0.99: q.P99}[share]
}
