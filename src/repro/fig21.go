package repro

import (
	"fmt"

	"github.com/open-lambda/open-lambda/src/repro/plot"
	"github.com/open-lambda/open-lambda/src/trace"
)

func threads() []int { return []int{1, 2, 4, 8} }

// threaded lets a sandbox serve several requests.
func threaded(p Point, n int) Point {
	p.Slots = n
	return p
}

func fig21() Figure {
	return Figure{
		ID: "fig21", Title: "Threads of a sandbox", Where: "Fig. 21, section 5.5", Ran: "testbed of three nodes",
		Note: "Requests in one sandbox do not slow each other down here.",
		Points: func(s Scene) []Point {
			return crossed(points(s, s.Azure, sensitive(), defaultGB), threaded, threads())
		},
		Draw:   drawFig21,
		Claims: fig21Claims,
	}
}

func drawFig21(d *Data) (*Report, error) {
	values, err := paper("fig21")
	if err != nil {
		return nil, err
	}
	t := Table{Title: "average overhead ratio (%) by threads of a sandbox, Azure, 100 GB", Keys: []string{"threads", "policy"}}
	for _, n := range threads() {
		for _, c := range sensitive() {
			t.Rows = append(t.Rows, Row{
				Key: []string{fmt.Sprint(n), c.name}, Ours: d.over(threaded(c.at(d.Scene, d.Azure, defaultGB), n), overhead),
				Paper:  values.value("avg_overhead_ratio_pct", "policy", c.paper, "threads", fmt.Sprint(n)),
				Fitted: n == 1 && fits(d.Azure, c.policy, trace.Overhead, defaultGB),
			})
		}
	}
	return &Report{Tables: []Table{t}, Charts: []Drawing{{"fig21", plot.Chart{
		Title: t.Title, X: plot.Axis{Label: "threads of a sandbox"}, Y: plot.Axis{Label: "average overhead ratio (%)"}, Bars: fromRows(t.Rows, true),
	}}}}, nil
}

func fig21Claims(s Scene) []Claim {
	const where = "section 5.5"
	faas := only("FaasCache")[0].at(s, s.Azure, defaultGB)
	all := []Claim{
		order(where, "FaasCache's overhead falls with threads", "points", falls(faas, threaded, threads(), overhead)),
		about("Fig. 21", "FaasCache: 12.4 % with 8 threads", 12.4, of(threaded(faas, 8), overhead)),
	}
	for _, c := range readings() {
		p := c.at(s, s.Azure, defaultGB)
		var ahead []measure
		for _, n := range threads() {
			ahead = append(ahead, less(threaded(p, n), threaded(faas, n), overhead))
		}
		all = append(
			all,
			order(where, c.name+"'s overhead falls with threads", "points", falls(p, threaded, threads(), overhead)),
			order(where, c.name+" is below FaasCache with any number of threads", "points", least(ahead...)),
			about("Fig. 21", c.name+": 6.2 % with 8 threads", 6.2, of(threaded(p, 8), overhead)),
		)
	}
	return all
}
