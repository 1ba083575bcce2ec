package repro

import (
	"math"
	"slices"
	"strings"

	"github.com/open-lambda/open-lambda/src/repro/plot"
	"github.com/open-lambda/open-lambda/src/sim/study"
)

// Figure is a table, a figure or a section of the paper.
type Figure struct {
	ID     string // "fig12"
	Title  string
	Where  string                       // in the paper
	Ran    string                       // what the paper's values come from
	Origin string                       // what ours come from; "" is the simulator or the trace
	Beyond bool                         // the paper has nothing to compare with
	Note   string                       // what a reader must know of the reproduction
	Points func(Scene) []Point          // without seeds; nil: no simulation
	Draw   func(*Data) (*Report, error) // from those points
	Claims func(Scene) []Claim
}

// Report is a figure's content.
type Report struct {
	Text   []string // what it shows, paragraphs
	Tables []Table
	Charts []Drawing
}

// Drawing is a chart with the name of its file.
type Drawing struct {
	Name string // "fig12a"
	plot.Chart
}

// Table compares values with the paper's.
type Table struct {
	Title string
	Keys  []string // heads of the columns that name a row
	Rows  []Row
}

// Row is one value.
type Row struct {
	Key   []string
	Ours  study.Interval
	Paper float64 // NaN if the paper has none
	// Fitted: the workload was calibrated to this value.
	Fitted bool
	// Source says where ours comes from if no seed changes it.
	Source string
}

// row measures a value: once if it comes from a source without seeds.
func (d *Data) row(key []string, paper float64, source string, of measure) Row {
	return Row{Key: key, Ours: Claim{Of: of, source: source}.measure(d), Paper: paper, Source: source}
}

// Figures lists all, in the paper's order.
func Figures() []Figure {
	return []Figure{
		table1(), fig2(), fig3(), fig4(), fig5(), fig6(), fig7(), fig8(), fig9(), fig10(), sec26(),
		fig12(), fig13(), fig14(), fig15(), fig16(), sec54(), fig17(), fig18(), fig19(), fig20(), table2(), fig21(), robustness(), causes(),
	}
}

// Find returns the figure that a word means: an id (fig12), one of its parts
// (fig12a), or another way to write it (12, Fig. 12, sec2.6).
func Find(word string) (Figure, bool) {
	id := strings.ToLower(strings.NewReplacer(" ", "", ".", "", "ure", "", "section", "sec").Replace(word))
	for _, f := range Figures() {
		known := strings.ReplaceAll(f.ID, ".", "")
		part := strings.TrimPrefix(id, known)
		if id == known || "fig"+id == known || part != id && len(part) == 1 && part >= "a" && part <= "d" {
			return f, true
		}
	}
	return Figure{}, false
}

// IDs lists the ids of figures.
func IDs(figures []Figure) []string {
	var ids []string
	for _, f := range figures {
		ids = append(ids, f.ID)
	}
	return ids
}

// Points lists what figures need, with seeds, each once.
func Points(figures []Figure, s Scene) []Point {
	var all []Point
	for _, f := range figures {
		if f.Points == nil {
			continue
		}
		for _, p := range f.Points(s) {
			for _, seed := range s.Seeds {
				p.Seed = seed
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, comparePoints)
	return slices.Compact(all)
}

// contender is a policy that the paper compares, or ours.
type contender struct {
	name   string // shown
	paper  string // in the paper's files, "" if it is not there
	policy string // see study.ParsePolicy
	style  int
}

// contenders are those of Fig. 12. The paper's TTL counts from creation. CIDRE
// is shown as this project runs it and as the text has it.
func contenders() []contender {
	return []contender{
		{"TTL", "TTL", "ttl:ttl-from=lifespan", 6},
		{"LRU", "LRU", "lru", 5},
		{"FaasCache", "FaasCache", "faascache", 1},
		{"RainbowCake", "RainbowCake", "rainbowcake", 3},
		{"Flame", "Flame", "flame", 7},
		{"ENSURE", "ENSURE", "ensure", 8},
		{"IceBreaker", "IceBreaker", "icebreaker", 9},
		{"CodeCrunch", "CodeCrunch", "codecrunch", 11},
		{"CIDRE_BSS", "CIDRE_BSS", "cidre-bss", 4},
		{"CIDRE", "CIDRE", "cidre", 0},
		{"CIDRE literal", "CIDRE", "cidre-literal", 14},
		{"cidre+", "", "cidre+", 2},
		{"Offline", "Offline", "offline", 13},
	}
}

// only returns the contenders of the given names, in that order.
func only(names ...string) []contender {
	var some []contender
	for _, name := range names {
		all := contenders()
		some = append(some, all[slices.IndexFunc(all, func(c contender) bool { return c.name == name })])
	}
	return some
}

// readings are the two forms of CIDRE that claims about it are judged for.
func readings() []contender { return only("CIDRE", "CIDRE literal") }

// none is the paper's value where it has none.
func none() float64 { return math.NaN() }

// InOrder sorts figures as in the paper, each once.
func InOrder(figures []Figure) []Figure {
	var all []Figure
	for _, f := range Figures() {
		if slices.ContainsFunc(figures, func(g Figure) bool { return g.ID == f.ID }) {
			all = append(all, f)
		}
	}
	return all
}
