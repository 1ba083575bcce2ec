package repro

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-lambda/open-lambda/src/sim/study"
)

// mapTable has a row for each cell: the overhead of the best one and of CIDRE.
func mapTable(d *Data, all []standing) Table {
	t := Table{Title: "overhead ratio (%) in each cell", Keys: []string{"memory", "cold start (ms)", "burst", "policy"}}
	for i := range all {
		s := &all[i]
		for k, p := range mapPolicies() {
			if k != s.best && k != mapCIDRE {
				continue
			}
			name := p.name
			if k == s.best {
				name += " (least)"
			}
			t.Rows = append(t.Rows, Row{
				Key:  []string{text(s.memory) + "x", fmt.Sprint(s.cold), text(s.burst), name},
				Ours: d.over(s.point(d.Scene, p.policy), overhead), Paper: none(),
			})
		}
	}
	return t
}

// mapSummary says how often each policy wins, and what it costs to choose it
// everywhere.
func mapSummary(all, papers []standing) Table {
	t := Table{Title: "over all cells", Keys: []string{"among", "policy", "value"}}
	least := "least, or not significantly above it (% of cells)"
	if !intervals(all) {
		least = "least (% of cells; " + oneSeed + ")"
	}
	for _, among := range []struct {
		name string
		all  []standing
	}{{"the paper's", papers}, {"all", all}} {
		for k := range among.all[0].behind {
			wins, mean, most := 0, 0.0, 0.0
			for i := range among.all {
				if among.all[i].tied(k) {
					wins++
				}
				b := among.all[i].behind[k].Mean
				mean += b / float64(len(among.all))
				most = max(most, b)
			}
			for _, v := range []struct {
				name  string
				value float64
			}{
				{least, 100 * float64(wins) / float64(len(among.all))},
				{"above the least, mean (points)", mean},
				{"above the least, most (points)", most},
			} {
				t.Rows = append(t.Rows, Row{Key: []string{among.name, mapPolicies()[k].name, v.name}, Ours: study.Interval{Mean: v.value, N: 1}, Paper: none()})
			}
		}
	}
	return t
}

// intervals tells whether differences have any.
func intervals(all []standing) bool { return all[0].behind[0].N > 1 }

// robustnessText says what the map shows and where CIDRE loses.
func robustnessText(papers, all []standing) []string {
	keep, bss := losses(papers, func(k int) bool { return k < keepAlives }), losses(papers, func(k int) bool { return k == mapBSS })
	wins := 0
	for i := range papers {
		if papers[i].tied(mapCIDRE) {
			wins++
		}
	}
	if !intervals(all) {
		return []string{fmt.Sprintf("Of %d cells, CIDRE has the least overhead of the paper's policies in %d (%s, so nothing is said of what is significant).",
			len(papers), wins, oneSeed)}
	}
	lines := []string{fmt.Sprintf("Of %d cells, CIDRE has the least overhead of the paper's policies in %d, or is not significantly above it.", len(papers), wins)}
	lines = append(lines, lossText("a keep-alive policy (TTL, LRU or FaasCache)", keep), lossText("CIDRE_BSS", bss))
	plus := losses(all, func(k int) bool { return k == mapCIDRE+1 })
	return append(lines, lossText("cidre+", plus))
}

// loss is a cell in which CIDRE is significantly above a policy.
type loss struct {
	place
	by     float64 // points
	policy int
}

// losses finds cells in which CIDRE is significantly above one of some
// policies, with the one it is most above.
func losses(all []standing, of func(policy int) bool) []loss {
	var found []loss
	for i := range all {
		s := &all[i]
		worst := loss{place: s.place}
		for k := range s.behind {
			by := s.cidre[k]
			if of(k) && by.N > 1 && by.Mean > worst.by && by.Mean-by.Half > 0 {
				worst.by, worst.policy = by.Mean, k
			}
		}
		if worst.by > 0 {
			found = append(found, worst)
		}
	}
	return found
}

// lossText says in which cells CIDRE loses to a policy, and where most.
func lossText(to string, all []loss) string {
	if len(all) == 0 {
		return fmt.Sprintf("It is nowhere significantly above %s.", to)
	}
	worst := slices.MaxFunc(all, func(a, b loss) int { return int(1000 * (a.by - b.by)) })
	return fmt.Sprintf("It is significantly above %s in %d cells (%s), by %.1f points at most, than %s with %v.",
		to, len(all), ranges(all), worst.by, mapPolicies()[worst.policy].name, worst.place)
}

// ranges lists how many of the cells have each level.
func ranges(all []loss) string {
	count := func(of func(place) string) string {
		var levels []string
		n := map[string]int{}
		for _, c := range places() {
			if l := of(c); !slices.Contains(levels, l) {
				levels = append(levels, l)
			}
		}
		for _, l := range all {
			n[of(l.place)]++
		}
		var parts []string
		for _, l := range levels {
			if n[l] > 0 {
				parts = append(parts, fmt.Sprintf("%s: %d", l, n[l]))
			}
		}
		return strings.Join(parts, ", ")
	}
	return "bursts of " + count(func(c place) string { return text(c.burst) }) +
		"; cold starts of " + count(func(c place) string { return fmt.Sprint(c.cold) + " ms" }) +
		"; memory " + count(func(c place) string { return text(c.memory) + "x" })
}
