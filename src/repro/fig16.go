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
	return crossed(points(s, s.Azure, scaled(), defaultGB), spaced, levelIATs())
}

func levelIATs() []float64 {
	var all []float64
	for _, l := range levels() {
		all = append(all, l.iat)
	}
	return all
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
	faas, bss, rainbow := only("FaasCache")[0], only("CIDRE_BSS")[0], only("RainbowCake")[0]
	all := []Claim{
		order(where, "CIDRE_BSS has fewer cold starts than FaasCache at every level", "points", everyLevel(s, bss, faas, cold)),
	}
	for _, c := range readings() {
		all = append(
			all,
			order(where, c.name+" has fewer cold starts than CIDRE_BSS at every level", "points", everyLevel(s, c, bss, cold)),
			order(where, c.name+" has fewer cold starts than FaasCache at every level", "points", everyLevel(s, c, faas, cold)),
			order(where, c.name+" has fewer cold starts than RainbowCake at every level", "points", everyLevel(s, c, rainbow, cold)),
			order(where, c.name+"'s cold ratio grows with the load", "points", grows(s, c, cold)),
		)
	}
	return all
}

// grows is the least step of a value from a level to the next.
func grows(s Scene, c contender, value func(*Measured) float64) measure {
	return rises(c.at(s, s.Azure, defaultGB), spaced, levelIATs(), value)
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
		order(where, "what CIDRE_BSS saves against FaasCache (%) falls with the load", "points", shrinks(s, bss, faas)),
	}
	for _, c := range []contender{faas, rainbow, bss} {
		all = append(all, order(where, c.name+"'s memory grows with the load", "GB", grows(s, c, busyGB)))
	}
	for _, c := range readings() {
		all = append(all, readingMemory(s, c)...)
	}
	return all
}

// readingMemory are the claims about the memory of a form of CIDRE.
func readingMemory(s Scene, c contender) []Claim {
	const where = "section 5.4"
	faas, bss, rainbow, level := only("FaasCache")[0], only("CIDRE_BSS")[0], only("RainbowCake")[0], levels()
	last := level[len(level)-1]
	more := func(d *Data, seed uint64) float64 { return -saved(s, rainbow, c, last.iat)(d, seed) }
	var below []measure
	for _, l := range level[:len(level)-1] {
		below = append(below, saved(s, rainbow, c, l.iat))
	}
	return []Claim{
		order(where, c.name+" uses less memory than CIDRE_BSS at every level", "GB", everyLevel(s, c, bss, busyGB)),
		order(where, c.name+"'s memory grows with the load", "GB", grows(s, c, busyGB)),
		apart(where, fmt.Sprintf("%s saves 22 %% against FaasCache at %v requests/s", c.name, last.rps), 22, saved(s, c, faas, last.iat)),
		order(where, fmt.Sprintf("RainbowCake uses less memory than %s at every level below %v requests/s", c.name, last.rps), "%", least(below...)),
		apart(where, "RainbowCake saves 24.7 % against "+c.name+" at 166.1 requests/s", 24.7, saved(s, rainbow, c, level[0].iat)),
		apart(where, "RainbowCake saves 5.6 % against "+c.name+" at 415.3 requests/s", 5.6, saved(s, rainbow, c, level[3].iat)),
		apart(where, fmt.Sprintf("RainbowCake uses 0.5 %% more than %s at %v requests/s", c.name, last.rps), 0.5, more),
	}
}

// shrinks is the least step by which a saving falls from a level to the next.
func shrinks(s Scene, a, b contender) measure {
	var all []measure
	for i := 1; i < len(levels()); i++ {
		before, after := saved(s, a, b, levels()[i-1].iat), saved(s, a, b, levels()[i].iat)
		all = append(all, func(d *Data, seed uint64) float64 { return before(d, seed) - after(d, seed) })
	}
	return least(all...)
}
