package repro

import (
	"fmt"
	"math"
	"time"

	"github.com/open-lambda/open-lambda/src/repro/plot"
	"github.com/open-lambda/open-lambda/src/sim/study"
	"github.com/open-lambda/open-lambda/src/trace"
)

// The map's axes.
func mapBursts() []float64 { return []float64{1, 3, 8, 20} }                 // mean requests of a burst
func mapColds() []int      { return []int{50, 200, 800, 3200} }              // ms
func mapMemory() []float64 { return []float64{2, 3.5, 6} }                   // times the memory of what executes
func mapLetters() []string { return []string{"L", "T", "F", "B", "C", "+"} } // as mapPolicies

func mapPolicies() []contender {
	return append([]contender{only("LRU")[0], {"TTL", "", "ttl", 6}}, only("FaasCache", "CIDRE_BSS", "CIDRE", "cidre+")...)
}

// place is a cell of the map.
type place struct {
	burst  float64
	cold   int
	memory float64
}

func (c place) String() string {
	return fmt.Sprintf("bursts of %v, cold starts of %d ms, %vx memory", c.burst, c.cold, c.memory)
}

func (c place) point(s Scene, policy string) Point {
	cold := time.Duration(c.cold) * time.Millisecond
	w, err := trace.Grid(c.burst, cold)
	if err != nil {
		panic("repro: " + err.Error()) // of our own axes
	}
	p := s.at(trace.GridName(c.burst, cold), policy, 0)
	p.PoolMB = int64(math.Round(c.memory * w.BusyMB()))
	return p
}

func places() []place {
	var all []place
	for _, m := range mapMemory() {
		for _, cold := range mapColds() {
			for _, b := range mapBursts() {
				all = append(all, place{b, cold, m})
			}
		}
	}
	return all
}

func robustness() Figure {
	return Figure{
		ID: "robustness", Title: "Which policy wins where", Where: "Beyond the paper", Ran: "nothing: it has no such map",
		Origin: "simulated on generated workloads of their own; the cache is warmed by one replay",
		Beyond: true,
		Note: "Burstiness x memory x cost of a cold start. 40 generated functions with 40 requests/s, executions of 190 ms and 448 MB in the mean, " +
			"fitted to nothing. Bursts spread over 400 ms; 1 means that requests are independent of each other. Memory is given as a multiple of what the requests in execution hold in the mean.",
		Points: func(s Scene) []Point {
			var all []Point
			for _, c := range places() {
				for _, p := range mapPolicies() {
					all = append(all, c.point(s, p.policy))
				}
			}
			return all
		},
		Draw:   drawRobustness,
		Claims: func(Scene) []Claim { return nil },
	}
}

// standing is how policies stand in a cell, by their index.
type standing struct {
	place
	overhead []float64 // means, %
	// behind is by how much the overhead exceeds the best one's, seeds in pairs,
	// points.
	behind []study.Interval
	cidre  []study.Interval // by how much CIDRE exceeds it
	best   int
}

// tied tells whether a policy is the best one, decides as it does, or is not
// significantly behind it. With one seed nothing is known to be significant, so only
// the first two count.
func (s *standing) tied(policy int) bool {
	b := s.behind[policy]
	return policy == s.best || b.Mean == 0 && b.Half == 0 || b.N > 1 && b.Mean-b.Half <= 0
}

// stand compares the first n policies in a cell.
func stand(d *Data, c place, n int) standing {
	s := standing{place: c}
	for i, p := range mapPolicies()[:n] {
		s.overhead = append(s.overhead, d.over(c.point(d.Scene, p.policy), overhead).Mean)
		if s.overhead[i] < s.overhead[s.best] {
			s.best = i
		}
	}
	by := func(low, high int) study.Interval {
		m := less(c.point(d.Scene, mapPolicies()[low].policy), c.point(d.Scene, mapPolicies()[high].policy), overhead)
		return d.interval(func(seed uint64) float64 { return m(d, seed) })
	}
	for k := range n {
		s.behind, s.cidre = append(s.behind, by(s.best, k)), append(s.cidre, by(k, mapCIDRE))
	}
	return s
}

func standings(d *Data, n int) []standing {
	var all []standing
	for _, c := range places() {
		all = append(all, stand(d, c, n))
	}
	return all
}

// Indexes into mapPolicies.
const (
	keepAlives = 3 // the first ones
	mapBSS     = 3
	mapCIDRE   = 4
	mapPapers  = 5 // those that the paper has
)

func drawRobustness(d *Data) (*Report, error) {
	all := standings(d, len(mapPolicies()))
	papers := standings(d, mapPapers)
	r := &Report{Text: append(robustnessText(papers, all), mapReading)}
	r.Charts = []Drawing{
		{"robustness-paper", heat(papers, "Which of the paper's policies wins")},
		{"robustness-all", heat(all, "Which policy wins, cidre+ among them")},
	}
	r.Tables = []Table{mapSummary(all, papers), mapTable(d, all)}
	return r, nil
}

const mapReading = "In a cell: the policy with the least overhead ratio, with ~ if one that decides otherwise is not significantly behind it; below it by how many points CIDRE is above it, which is also the shade. All overheads are in cells.csv."

// heat draws a map.
func heat(all []standing, title string) plot.Chart {
	m := &plot.Map{Scale: fmt.Sprintf("CIDRE above the best, 0 to %v points of overhead or more", mapDark), Legend: []string{
		"L LRU (TTL as well if it decides alike), T TTL, F FaasCache,",
		"B CIDRE_BSS, C CIDRE, + cidre+; ~ another is not significantly behind",
	}}
	for _, b := range mapBursts() {
		m.Columns = append(m.Columns, text(b))
	}
	for _, cold := range mapColds() {
		m.Rows = append(m.Rows, fmt.Sprint(cold))
	}
	next := 0
	for _, memory := range mapMemory() {
		p := plot.Panel{Title: fmt.Sprintf("%vx memory", memory)}
		for range mapColds() {
			var row []plot.MapCell
			for range mapBursts() {
				row = append(row, heatCell(&all[next]))
				next++
			}
			p.Cells = append(p.Cells, row)
		}
		m.Panels = append(m.Panels, p)
	}
	return plot.Chart{Title: title, X: plot.Axis{Label: "requests in a burst (mean)"}, Y: plot.Axis{Label: "cold start (ms)"}, Map: m}
}

// mapDark is the distance that is drawn darkest, points.
const mapDark = 10.0

func heatCell(s *standing) plot.MapCell {
	name := mapLetters()[s.best]
	for i := range s.behind {
		if s.tied(i) && s.behind[i] != s.behind[s.best] { // else it decided the same
			name += "~"
			break
		}
	}
	behind := s.behind[mapCIDRE].Mean
	return plot.MapCell{Shade: behind / mapDark, Lines: []string{name, fmt.Sprintf("%.1f", behind)}}
}
