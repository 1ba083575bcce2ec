package repro

import (
	"github.com/open-lambda/open-lambda/src/repro/plot"
)

// ablation are the bars of Fig. 15.
func ablation() []contender {
	return []contender{
		{"FaasCache", "FaasCache", "faascache", 0},
		{"CIP", "CIP_alone", "cip", 0},
		{"BSS", "BSS_alone", "bss", 0},
		{"CSS", "CSS_alone", "css", 0},
		{"CSS literal", "CSS_alone", "css:scaler=css-literal", 0},
		{"CIDRE", "CIDRE", "cidre", 0},
		{"CIDRE literal", "CIDRE", "cidre-literal", 0},
		{"cidre+", "", "cidre+", 0},
	}
}

func fig15() Figure {
	return Figure{
		ID: "fig15", Title: "Ablation at 100 GB", Where: "Fig. 15, section 5.3", Ran: "testbed of three nodes",
		Points: func(s Scene) []Point { return points(s, s.Azure, ablation(), defaultGB) },
		Draw: func(d *Data) (*Report, error) {
			return overheadBars(d, "fig15", "fig15", "configuration", "average overhead ratio (%) by technique, Azure, 100 GB", ablation())
		},
		Claims: fig15Claims,
	}
}

// overheadBars draws one bar for each contender at 100 GB on Azure.
func overheadBars(d *Data, name, file, column, title string, cs []contender) (*Report, error) {
	values, err := paper(file)
	if err != nil {
		return nil, err
	}
	t := Table{Title: title, Keys: []string{column}}
	for _, c := range cs {
		t.Rows = append(t.Rows, overheadRow(d, d.Azure, c, defaultGB, values.value("avg_overhead_ratio_pct", column, c.paper), c.name))
	}
	ch := plot.Chart{Title: title, Y: plot.Axis{Label: "average overhead ratio (%)"}, Bars: fromRows(t.Rows, true)}
	return &Report{Tables: []Table{t}, Charts: []Drawing{{name, ch}}}, nil
}

func fig15Claims(s Scene) []Claim {
	at := func(policy string) Point { return s.at(s.Azure, policy, defaultGB) }
	const where = "section 5.3"
	all := []Claim{apart(where, "CIP alone is 3.6 % below FaasCache", 3.6, reduction(at("cip"), at("faascache"), overhead))}
	for _, c := range []struct{ css, cidre, suffix string }{{"css", "cidre", ""}, {"css:scaler=css-literal", "cidre-literal", " literal"}} {
		all = append(
			all,
			apart(where, "CSS"+c.suffix+" alone is 12.5 % below BSS alone", 12.5, reduction(at(c.css), at("bss"), overhead)),
			apart(where, "CIDRE"+c.suffix+" is 6.1 % below CSS"+c.suffix+" alone", 6.1, reduction(at(c.cidre), at(c.css), overhead)),
		)
	}
	for _, p := range ablationPairs() {
		all = append(all, p.claim(s, "Fig. 15"))
	}
	return all
}
