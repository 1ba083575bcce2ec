package repro

import (
	"fmt"

	"github.com/open-lambda/open-lambda/src/repro/plot"
)

// levels are the average requests per second of Fig. 16, with the factor on the
// times between arrivals that makes them of the sample's 332.2.
func levels() []struct {
	rps, iat float64
} {
	var all []struct{ rps, iat float64 }
	for i, rps := range []float64{166.1, 249.2, 332.2, 415.3, 498.4} {
		all = append(all, struct{ rps, iat float64 }{rps, 1 / (0.5 + 0.25*float64(i))})
	}
	return all
}

func scaled() []contender {
	return only("FaasCache", "RainbowCake", "CIDRE_BSS", "CIDRE", "CIDRE literal", "cidre+")
}

func fig16Points(s Scene) []Point {
	var iats []float64
	for _, l := range levels() {
		iats = append(iats, l.iat)
	}
	return crossed(points(s, s.Azure, scaled(), defaultGB), spaced, iats)
}

// busyGB is the memory of sandboxes that serve or start. See fig16's note.
func busyGB(m *Measured) float64 { return m.BusyMB / mbPerGB }

func fig16() Figure {
	return Figure{
		ID: "fig16", Title: "Memory and cold starts by load", Where: "Fig. 16, section 5.4", Ran: "testbed of three nodes",
		Note:   "The paper shows more memory in use than its cache of 100 GB has, so its measure is not the cache. Here it is the mean memory of sandboxes that serve or start, in a cache of 100 GB. The level is set by the times between arrivals.",
		Points: fig16Points,
		Draw:   drawFig16,
		Claims: fig16Claims,
	}
}

func drawFig16(d *Data) (*Report, error) {
	values, err := paper("fig16")
	if err != nil {
		return nil, err
	}
	r := &Report{}
	for i, k := range []struct {
		kind
		axis string
	}{
		{kind{"cold starts (%)", "cold_pct", cold}, "cold starts (%)"},
		{kind{"memory (GB)", "memory_gb", busyGB}, "memory that does not idle (GB)"},
	} {
		t := Table{Title: k.name + " by load, Azure, 100 GB", Keys: []string{"policy", "requests/s"}}
		var all []series
		for _, c := range scaled() {
			s := series{contender: c}
			for _, l := range levels() {
				row := Row{
					Key: []string{c.name, text(l.rps)}, Ours: d.over(spaced(c.at(d.Scene, d.Azure, defaultGB), l.iat), k.of),
					Paper: values.value(k.column, "policy", c.paper, "rps", text(l.rps)),
				}
				s.add(l.rps, row)
				t.Rows = append(t.Rows, row)
			}
			all = append(all, s)
		}
		r.Tables = append(r.Tables, t)
		r.Charts = append(r.Charts, Drawing{"fig16" + string("ab"[i]), plot.Chart{
			Title: t.Title, X: plot.Axis{Label: "requests per second"}, Y: plot.Axis{Label: k.axis}, Series: lines(all),
		}})
	}
	return r, nil
}

// everyLevel takes the least of a comparison over the levels.
func everyLevel(s Scene, a, b contender, value func(*Measured) float64) measure {
	var all []measure
	for _, l := range levels() {
		all = append(all, less(spaced(a.at(s, s.Azure, defaultGB), l.iat), spaced(b.at(s, s.Azure, defaultGB), l.iat), value))
	}
	return least(all...)
}

func fig16Claims(s Scene) []Claim {
	const where = "section 5.4"
	faas, bss := only("FaasCache")[0], only("CIDRE_BSS")[0]
	all := []Claim{
		order(where, "CIDRE_BSS has fewer cold starts than FaasCache at every level", "points", everyLevel(s, bss, faas, cold)),
	}
	for _, c := range readings() {
		var grows []measure
		for i := 1; i < len(levels()); i++ {
			p := c.at(s, s.Azure, defaultGB)
			grows = append(grows, less(spaced(p, levels()[i-1].iat), spaced(p, levels()[i].iat), cold))
		}
		all = append(
			all,
			order(where, c.name+" has fewer cold starts than CIDRE_BSS at every level", "points", everyLevel(s, c, bss, cold)),
			order(where, c.name+"'s cold ratio grows with the load", "points", least(grows...)),
		)
	}
	return all
}

func sec54() Figure {
	return Figure{
		ID: "sec5.4", Title: "Memory saved", Where: "section 5.4", Ran: "testbed of three nodes",
		Note:   "Memory as in Fig. 16: of sandboxes that serve or start.",
		Points: fig16Points,
		Draw: func(d *Data) (*Report, error) {
			t := Table{Title: "memory below FaasCache's (%), Azure, 100 GB", Keys: []string{"policy", "requests/s"}}
			var all []series
			for _, c := range scaled()[1:] {
				line := series{contender: c}
				for _, l := range levels() {
					of := saved(d.Scene, c, only("FaasCache")[0], l.iat)
					row := Row{
						Key: []string{c.name, text(l.rps)}, Paper: paperSaving(c, l.rps),
						Ours: d.interval(func(seed uint64) float64 { return of(d, seed) }),
					}
					line.add(l.rps, row)
					t.Rows = append(t.Rows, row)
				}
				all = append(all, line)
			}
			return &Report{Tables: []Table{t}, Charts: []Drawing{{"sec5.4", plot.Chart{
				Title: t.Title, X: plot.Axis{Label: "requests per second"}, Y: plot.Axis{Label: "memory saved (%)"}, Series: lines(all),
			}}}}, nil
		},
		Claims: sec54Claims,
	}
}

func saved(s Scene, a, b contender, iat float64) measure {
	return reduction(spaced(a.at(s, s.Azure, defaultGB), iat), spaced(b.at(s, s.Azure, defaultGB), iat), busyGB)
}

// paperSaving computes the paper's from its Fig. 16.
func paperSaving(c contender, rps float64) float64 {
	values, err := paper("fig16")
	if err != nil {
		return none()
	}
	whole := values.value("memory_gb", "policy", "FaasCache", "rps", text(rps))
	return 100 * (1 - values.value("memory_gb", "policy", c.paper, "rps", text(rps))/whole)
}

func sec54Claims(s Scene) []Claim {
	const where = "section 5.4"
	faas, bss, rainbow := only("FaasCache")[0], only("CIDRE_BSS")[0], only("RainbowCake")[0]
	all := []Claim{
		order(where, "CIDRE_BSS uses less memory than FaasCache at every level", "GB", everyLevel(s, bss, faas, busyGB)),
	}
	last := levels()[len(levels())-1]
	for _, c := range readings() {
		all = append(
			all,
			order(where, c.name+" uses less memory than CIDRE_BSS at every level", "GB", everyLevel(s, c, bss, busyGB)),
			about(where, fmt.Sprintf("%s saves 22 %% against FaasCache at %v requests/s", c.name, last.rps), 22, saved(s, c, faas, last.iat)),
			about(where, "RainbowCake saves 24.7 % against "+c.name+" at 166.1 requests/s", 24.7, saved(s, rainbow, c, levels()[0].iat)),
		)
	}
	return all
}
