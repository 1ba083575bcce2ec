package repro

import (
	"fmt"

	"github.com/open-lambda/open-lambda/src/repro/plot"
)

// reuse is the paper's modified FaasCache: whoever would start a sandbox waits
// for the busy one with the shortest queue instead.
const reuse = "queue-length:L=inf"

func fig5() Figure {
	return Figure{
		ID: "fig5", Title: "Waiting for a busy sandbox or a cold start, Azure", Where: "Fig. 5, section 2.4", Ran: "simulator",
		Note: "The paper ran this on 24 h of 750 functions with a cache whose size it does not give; here it is the half hour of the other figures, with 100 GB. The text puts the crossing at 464 ms and 69.4 %, the drawn curves cross at about 568 ms and 81.5 %.",
		Points: func(s Scene) []Point {
			return []Point{s.at(s.Azure, reuse, defaultGB)}
		},
		Draw: func(d *Data) (*Report, error) { return drawFig5(d, "fig5", "azure", d.Azure, false) },
		Claims: func(s Scene) []Claim {
			p := s.at(s.Azure, reuse, defaultGB)
			return []Claim{
				about("section 2.4", "waiting is sooner for 69.4 % of the requests (crossing of the curves)", 69.4, of(p, crossingShare)),
				about("section 2.4", "request by request, waiting is sooner for 69.4 %", 69.4, of(p, func(m *Measured) float64 { return 100 * m.Sooner })),
				order("section 2.4", "waiting is sooner for most requests", "points", of(p, func(m *Measured) float64 { return 100*m.Sooner - 50 })),
			}
		},
	}
}

func fig6() Figure {
	return Figure{
		ID: "fig6", Title: "Waiting for a busy sandbox or a cold start, FC", Where: "Fig. 6, section 2.4", Ran: "simulator",
		Note:   "The FC trace was not published. fc-like has the size of the paper's FC sample and was calibrated to FaasCache alone, so this is a prediction of the generator.",
		Points: func(s Scene) []Point { return []Point{s.at(s.FC, reuse, defaultGB)} },
		Draw:   func(d *Data) (*Report, error) { return drawFig5(d, "fig6", "fc", d.FC, true) },
		Claims: func(s Scene) []Claim {
			p := s.at(s.FC, reuse, defaultGB)
			return []Claim{
				untestable("section 2.4", "waiting is sooner for all requests of the FC trace", "%", 100, "the FC trace was not published; measured on "+s.FC,
					of(p, crossingShare)),
			}
		},
	}
}

func crossingShare(m *Measured) float64 {
	_, share := crossing(m.Delayed, m.DelayedCold)
	return 100 * share
}

func drawFig5(d *Data, name, key, workload string, log bool) (*Report, error) {
	values, err := paper("fig05")
	if err != nil {
		return nil, err
	}
	p := d.at(workload, reuse, defaultGB)
	title := fmt.Sprintf("Waiting for a busy sandbox, or a cold start (%s)", workload)
	t := Table{Title: title, Keys: []string{"curve", "quantile"}}
	ch := plot.Chart{Title: title, X: plot.Axis{Label: "time (ms)", Log: log, Min: 0, Max: 2500}, Y: plot.Axis{Label: "share of requests", Min: 0, Max: 1}}
	if log {
		ch.X.Min, ch.X.Max = 0.1, 1e4
	}
	var marks []plot.Series
	for i, c := range []struct {
		name, series string
		of           func(*Measured) Curve
	}{
		{"waiting", "queue", func(m *Measured) Curve { return m.Delayed }},
		{"cold start", "cold", func(m *Measured) Curve { return m.DelayedCold }},
	} {
		style := contender{name: c.name, style: i}
		ch.Series = append(ch.Series, distribution(style, positive(d.curve(p, c.of), log)))
		rows, at := quantileRows(d, p, []string{c.name}, c.of, func(q string) float64 {
			return values.value(q+"_ms", "workload", key, "series", c.series)
		})
		t.Rows = append(t.Rows, rows...)
		marks = append(marks, quantileMarks(style, at))
	}
	t.Rows = append(t.Rows, Row{Key: []string{"crossing", "share (%)"}, Ours: d.over(p, crossingShare), Paper: map[string]float64{"azure": 69.4, "fc": 100}[key]})
	ch.Series = append(ch.Series, marks...)
	return &Report{Tables: []Table{t}, Charts: []Drawing{{name, ch}}}, nil
}

// positive keeps a curve drawable on a logarithmic axis.
func positive(c Curve, log bool) Curve {
	if !log {
		return c
	}
	out := make(Curve, len(c))
	for i, v := range c {
		out[i] = max(v, 0.1)
	}
	return out
}
