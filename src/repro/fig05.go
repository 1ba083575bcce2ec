package repro

import (
	"fmt"

	"github.com/open-lambda/open-lambda/src/repro/plot"
)

// The paper's text can be read in two ways. reuse: whoever would start a sandbox
// under FaasCache waits for the busy one with the shortest queue instead.
// caching: FaasCache runs as it is, and each cold start is compared with the
// wait that was missed.
const (
	reuse   = "queue-length:L=inf"
	caching = "faascache"
)

const fig5Note = "The text can be read in two ways. Instead: requests really wait for a busy sandbox, so queues build up. Missed: FaasCache runs as it is, and each of its cold starts at which a sandbox was busy is compared with the wait for that one."

func fig5() Figure {
	return Figure{
		ID: "fig5", Title: "Waiting for a busy sandbox or a cold start, Azure", Where: "Fig. 5, section 2.4", Ran: "simulator",
		Note:   whatIfNote + " The text puts the crossing at 464 ms and 69.4 %, the drawn curves cross at about 568 ms and 81.5 %. " + fig5Note,
		Points: func(s Scene) []Point { return fig5Points(s, s.Azure) },
		Draw:   func(d *Data) (*Report, error) { return drawFig5(d, "fig5", "azure", d.Azure) },
		Claims: func(s Scene) []Claim {
			var all []Claim
			for i, r := range fig5Readings() {
				p := fig5Points(s, s.Azure)[i]
				all = append(
					all,
					about("section 2.4", r.name+": waiting is sooner for 69.4 % of the requests (crossing of the curves)", 69.4, of(p, r.crossing)),
					about("section 2.4", r.name+": request by request, waiting is sooner for 69.4 %", 69.4, of(p, r.sooner)),
					order("section 2.4", r.name+": waiting is sooner for most requests", "points", of(p, func(m *Measured) float64 { return r.sooner(m) - 50 })),
				)
			}
			return all
		},
	}
}

func fig6() Figure {
	return Figure{
		ID: "fig6", Title: "Waiting for a busy sandbox or a cold start, FC", Where: "Fig. 6, section 2.4", Ran: "simulator",
		Note:   "The FC trace was not published. What stands for it has the size of the paper's FC sample and was calibrated to FaasCache alone, so this is a prediction of the generator. " + fig5Note,
		Points: func(s Scene) []Point { return fig5Points(s, s.FC) },
		Draw:   func(d *Data) (*Report, error) { return drawFig5(d, "fig6", "fc", d.FC) },
		Claims: func(s Scene) []Claim {
			var all []Claim
			for i, r := range fig5Readings() {
				all = append(all, untestable("section 2.4", r.name+": waiting is sooner for all requests of the FC trace", "%", 100,
					"the FC trace was not published; measured on "+s.FC, of(fig5Points(s, s.FC)[i], r.crossing)))
			}
			return all
		},
	}
}

func fig5Points(s Scene, workload string) []Point {
	return []Point{s.at(workload, reuse, defaultGB), s.at(workload, caching, defaultGB)}
}

// reading is one of the two, with its curves.
type reading struct {
	name          string
	waiting, cold func(*Measured) Curve
	sooner        func(*Measured) float64 // percent
}

func fig5Readings() []reading {
	return []reading{
		{
			"instead", func(m *Measured) Curve { return m.Delayed }, func(m *Measured) Curve { return m.DelayedCold },
			func(m *Measured) float64 { return 100 * m.Sooner },
		},
		{
			"missed", func(m *Measured) Curve { return m.Missed }, func(m *Measured) Curve { return m.MissedCold },
			func(m *Measured) float64 { return 100 * m.MissedSooner },
		},
	}
}

func (r reading) crossing(m *Measured) float64 {
	_, share := crossing(r.waiting(m), r.cold(m))
	return 100 * share
}

func drawFig5(d *Data, name, key, workload string) (*Report, error) {
	values, err := paper("fig05")
	if err != nil {
		return nil, err
	}
	report := &Report{}
	for i, r := range fig5Readings() {
		p := fig5Points(d.Scene, workload)[i]
		title := fmt.Sprintf("Waiting for a busy sandbox, or a cold start (%s): %s", workload, r.name)
		t := Table{Title: title, Keys: []string{"curve", "quantile"}}
		ch := plot.Chart{Title: title, X: fig5Axis(key), Y: plot.Axis{Label: "share of requests", Min: 0, Max: 1}}
		var marks []plot.Series
		for k, c := range []struct {
			name, series string
			of           func(*Measured) Curve
		}{{"waiting", "queue", r.waiting}, {"cold start", "cold", r.cold}} {
			style := contender{name: c.name, style: k}
			ch.Series = append(ch.Series, distribution(style, clipped(d.curve(p, c.of), ch.X.Min)))
			rows, at := quantileRows(d, p, []string{c.name}, c.of, func(q string) float64 {
				return values.value(q+"_ms", "workload", key, "series", c.series)
			})
			t.Rows = append(t.Rows, rows...)
			marks = append(marks, quantileMarks(style, at))
		}
		t.Rows = append(t.Rows, Row{Key: []string{"crossing", "share (%)"}, Ours: d.over(p, r.crossing), Paper: map[string]float64{"azure": 69.4, "fc": 100}[key]})
		ch.Series = append(ch.Series, marks...)
		report.Tables = append(report.Tables, t)
		report.Charts = append(report.Charts, Drawing{name + string("ab"[i]), ch})
	}
	return report, nil
}

func fig5Axis(key string) plot.Axis {
	if key == "fc" {
		return plot.Axis{Label: "time (ms)", Log: true, Min: 0.1, Max: 1e4}
	}
	return plot.Axis{Label: "time (ms)", Min: 0, Max: 2500}
}
