package repro

import (
	"github.com/open-lambda/open-lambda/src/repro/plot"
	"github.com/open-lambda/open-lambda/src/trace"
)

func fig12() Figure {
	return Figure{
		ID: "fig12", Title: "Comparison with baselines over cache sizes", Where: "Fig. 12, section 5.1", Ran: "testbed of three nodes",
		Note: "Baselines beside TTL, LRU and FaasCache are written from public descriptions (see the confidence in ol policy list).",
		Points: func(s Scene) []Point {
			all := points(s, s.Azure, contenders(), sizes()...)
			return append(all, points(s, s.FC, contenders(), sizes()...)...)
		},
		Draw: drawFig12,
		Claims: func(s Scene) []Claim {
			all := append(chainClaims(s), overheadClaims(s, s.Azure, "Fig. 12 (a)")...)
			all = append(all, azureClaims(s)...)
			all = append(all, kindClaims(s, s.Azure, "Fig. 12 (b)")...)
			all = append(all, overheadClaims(s, s.FC, "Fig. 12 (c)")...)
			return append(all, kindClaims(s, s.FC, "Fig. 12 (d)")...)
		},
	}
}

func drawFig12(d *Data) (*Report, error) {
	r := &Report{}
	for i, w := range []struct{ key, name, workload string }{{"azure", "Azure", d.Azure}, {"fc", "FC", d.FC}} {
		table, chart, err := fig12Overhead(d, w.key, w.workload)
		if err != nil {
			return nil, err
		}
		part := string("ac"[i])
		table.Title = "(" + part + ") average overhead ratio (%), " + w.name
		chart.Title = table.Title
		r.Charts = append(r.Charts, Drawing{"fig12" + part, chart})
		r.Tables = append(r.Tables, table)
		table, chart, err = fig12Kinds(d, w.key, w.workload)
		if err != nil {
			return nil, err
		}
		part = string("bd"[i])
		table.Title = "(" + part + ") kinds of start (%), " + w.name
		chart.Title = table.Title
		r.Charts = append(r.Charts, Drawing{"fig12" + part, chart})
		r.Tables = append(r.Tables, table)
	}
	return r, nil
}

// fig12Overhead is (a) and (c).
func fig12Overhead(d *Data, key, workload string) (Table, plot.Chart, error) {
	values, err := paper("fig12ac")
	t := Table{Keys: []string{"policy", "GB"}}
	if err != nil {
		return t, plot.Chart{}, err
	}
	var all []series
	for _, c := range contenders() {
		s := series{contender: c}
		for _, gb := range sizes() {
			row := overheadRow(d, workload, c, gb,
				values.value("avg_overhead_ratio_pct", "workload", key, "policy", c.paper, "memory_gb", text(gb)), c.name, text(gb))
			s.add(gb, row)
			t.Rows = append(t.Rows, row)
		}
		all = append(all, s)
	}
	return t, plot.Chart{X: memoryAxis(), Y: plot.Axis{Label: "average overhead ratio (%)"}, Series: lines(all)}, nil
}

func memoryAxis() plot.Axis {
	a := plot.Axis{Label: "cache size (GB)"}
	for _, gb := range sizes() {
		a.Ticks = append(a.Ticks, plot.Tick{At: gb, Label: text(gb)})
	}
	return a
}

// fig12Kinds is (b) and (d): stacked bars.
func fig12Kinds(d *Data, key, workload string) (Table, plot.Chart, error) {
	values, err := paper("fig12bd")
	t := Table{Keys: []string{"GB", "policy", "start"}}
	if err != nil {
		return t, plot.Chart{}, err
	}
	kinds := []struct {
		name, column string
		of           func(*Measured) float64
	}{{"cold", "cold_pct", cold}, {"delayed", "delayed_warm_pct", delayed}, {"warm", "warm_pct", warm}}
	cs, letters := only("FaasCache", "IceBreaker", "CIDRE_BSS", "CIDRE", "CIDRE literal", "cidre+"), []string{"F", "I", "S", "C", "L", "+"}
	b := &plot.Bars{Bars: letters, Parts: []string{"cold", "delayed", "warm"}, Fill: plot.Fills(3)}
	for _, c := range cs {
		b.Data = append(b.Data, c.name)
	}
	for _, gb := range sizes() {
		var group, papers [][]float64
		for _, c := range cs {
			var ours, theirs []float64
			for _, k := range kinds {
				row := Row{
					Key: []string{text(gb), c.name, k.name}, Ours: d.over(d.at(workload, c.policy, gb), k.of),
					Paper:  values.value(k.column, "workload", key, "policy", c.paper, "memory_gb", text(gb)),
					Fitted: k.name == trace.Cold && fits(workload, c.policy, trace.Cold, gb),
				}
				t.Rows = append(t.Rows, row)
				ours, theirs = append(ours, row.Ours.Mean), append(theirs, row.Paper)
			}
			group, papers = append(group, ours), append(papers, theirs)
		}
		b.Groups, b.Value, b.Paper = append(b.Groups, text(gb)), append(b.Value, group), append(b.Paper, papers)
	}
	return t, plot.Chart{
		X: plot.Axis{Label: "cache size (GB); F FaasCache, I IceBreaker,\nS CIDRE_BSS, C CIDRE, L CIDRE literal, + cidre+"},
		Y: plot.Axis{Label: "requests (%)", Min: 0, Max: 100}, Bars: b,
	}, nil
}
