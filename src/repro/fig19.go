package repro

import (
	"fmt"

	"github.com/open-lambda/open-lambda/src/repro/plot"
)

// sensitive are the contenders of Figs 19 to 21.
func sensitive() []contender {
	return only("FaasCache", "CIDRE_BSS", "CIDRE", "CIDRE literal", "cidre+")
}

func iats() []float64 { return []float64{0.5, 1, 2} }

// spaced changes the times between arrivals.
func spaced(p Point, iat float64) Point {
	p.IAT = iat
	return p
}

func fig19() Figure {
	return Figure{
		ID: "fig19", Title: "Times between arrivals", Where: "Fig. 19, section 5.5", Ran: "testbed of three nodes",
		Points: func(s Scene) []Point {
			return crossed(points(s, s.Azure, sensitive(), defaultGB), spaced, iats())
		},
		Draw:   drawFig19,
		Claims: fig19Claims,
	}
}

func drawFig19(d *Data) (*Report, error) {
	values, err := paper("fig19")
	if err != nil {
		return nil, err
	}
	t := Table{Title: "invocation overhead by factor on the times between arrivals, Azure, 100 GB", Keys: []string{"policy", "factor", "value"}}
	r := &Report{}
	for i, iat := range iats() {
		title := fmt.Sprintf("invocation overhead, times between arrivals x%v, Azure, 100 GB", iat)
		ch := plot.Chart{Title: title, X: plot.Axis{Label: "invocation overhead (ms)", Min: 0, Max: 700}, Y: plot.Axis{Label: "share of requests", Min: 0, Max: 1}}
		var marks []plot.Series
		for _, c := range sensitive() {
			p := spaced(c.at(d.Scene, d.Azure, defaultGB), iat)
			ch.Series = append(ch.Series, distribution(c, d.curve(p, waits)))
			rows, at := quantileRows(d, p, []string{c.name, text(iat)}, waits, func(q string) float64 {
				return values.value("overhead_"+q+"_ms", "policy", c.paper, "iat_factor", text(iat))
			})
			t.Rows = append(t.Rows, rows...)
			t.Rows = append(t.Rows, Row{
				Key: []string{c.name, text(iat), "warm (%)"}, Ours: d.over(p, warm),
				Paper: 100 * values.value("overhead_cdf_at_0", "policy", c.paper, "iat_factor", text(iat)),
			})
			if c.paper != "" && c.name != "CIDRE literal" {
				marks = append(marks, quantileMarks(c, at))
			}
		}
		ch.Series = append(ch.Series, marks...)
		r.Charts = append(r.Charts, Drawing{"fig19" + string("abc"[i]), ch})
	}
	r.Tables = []Table{t}
	return r, nil
}

func fig19Claims(s Scene) []Claim {
	const where = "section 5.5"
	at := func(c contender, iat float64) Point { return spaced(c.at(s, s.Azure, defaultGB), iat) }
	everywhere := func(a, b contender) measure {
		var all []measure
		for _, iat := range iats() {
			all = append(all, less(at(a, iat), at(b, iat), waitMean))
		}
		return least(all...)
	}
	faas, bss := only("FaasCache")[0], only("CIDRE_BSS")[0]
	var all []Claim
	for _, c := range readings() {
		all = append(
			all,
			order(where, c.name+" waits less than FaasCache at every factor", "ms", everywhere(c, faas)),
			order(where, c.name+" waits less than CIDRE_BSS at every factor", "ms", everywhere(c, bss)),
			about(where, c.name+": 60.4 % warm at 2x", 60.4, of(at(c, 2), warm)),
			about(where, c.name+": 39.5 % warm at 1x", 39.5, of(at(c, 1), warm)),
			about(where, c.name+": 15.0 % warm at 0.5x", 15.0, of(at(c, 0.5), warm)),
		)
	}
	for _, c := range append([]contender{faas, bss}, readings()...) {
		p := c.at(s, s.Azure, defaultGB)
		all = append(
			all,
			order(where, c.name+" waits less the longer the times between arrivals are", "ms", falls(p, spaced, iats(), waitMean)),
			order(where, c.name+" has more warm starts the longer the times between arrivals are", "points", rises(p, spaced, iats(), warm)),
		)
	}
	return all
}

// falls is the least step down of a value from one of the points to the next, which
// values change in their order; rises is the least step up.
func falls[T any](p Point, change func(Point, T) Point, values []T, value func(*Measured) float64) measure {
	var all []measure
	for i := 1; i < len(values); i++ {
		all = append(all, less(change(p, values[i]), change(p, values[i-1]), value))
	}
	return least(all...)
}

func rises[T any](p Point, change func(Point, T) Point, values []T, value func(*Measured) float64) measure {
	return falls(p, change, values, func(m *Measured) float64 { return -value(m) })
}
