package repro

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/open-lambda/open-lambda/src/repro/plot"
)

// curveRows has a row for each point that is drawn. Of bars x is the group and y
// the height of the part; of maps x and y are the column and the row, and of
// lanes the beginning and the end of a stretch, with what is there as text. What
// is no number is not drawn.
func curveRows(charts []Drawing) [][]string {
	rows := [][]string{{"chart", "series", "paper", "x", "y", "half_width", "text"}}
	for _, c := range charts {
		t := curveTable{chart: c.Name}
		for _, s := range c.Series {
			t.series(s)
		}
		if c.Bars != nil {
			t.bars(c.Bars, c.Y.Label)
		}
		if c.Map != nil {
			t.heat(c.Map)
		}
		if c.Lanes != nil {
			t.lanes(c.Lanes)
		}
		rows = append(rows, t.rows...)
	}
	return rows
}

// curveTable gathers the rows of a chart.
type curveTable struct {
	chart string
	rows  [][]string
}

func (t *curveTable) add(series string, theirs bool, x, y, half, text string) {
	t.rows = append(t.rows, []string{t.chart, series, strconv.FormatBool(theirs), x, y, half, text})
}

func (t *curveTable) series(s plot.Series) {
	for i := range s.X {
		if !s.Drawn(i) {
			continue
		}
		half := ""
		if s.Half != nil && !math.IsNaN(s.Half[i]) {
			half = digits(s.Half[i])
		}
		t.add(s.DataName(), s.Hollow, digits(s.X[i]), digits(s.Y[i]), half, "")
	}
}

// bars has ours and the paper's of each part; value names bars that have no names.
func (t *curveTable) bars(b *plot.Bars, value string) {
	for _, side := range []struct {
		values [][][]float64
		theirs bool
	}{{b.Value, false}, {b.Paper, true}} {
		for g, group := range side.values {
			for k, parts := range group {
				for part, v := range parts {
					if math.IsNaN(v) {
						continue
					}
					half := ""
					if !side.theirs && b.Half != nil && len(parts) == 1 && !math.IsNaN(b.Half[g][k]) {
						half = digits(b.Half[g][k])
					}
					t.add(barName(b, k, part, value), side.theirs, oneLine(b.Groups[g]), digits(v), half, "")
				}
			}
		}
	}
}

func barName(b *plot.Bars, k, part int, value string) string {
	var words []string
	for _, w := range []string{b.DataName(k), b.Parts[part]} {
		if w != "" {
			words = append(words, w)
		}
	}
	if words == nil {
		return oneLine(value)
	}
	return strings.Join(words, ", ")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func (t *curveTable) heat(m *plot.Map) {
	for _, p := range m.Panels {
		for r, cells := range p.Cells {
			for k, cell := range cells {
				t.add(p.Title, false, m.Columns[k], m.Rows[r], "", strings.Join(cell.Lines, " "))
			}
		}
	}
}

func (t *curveTable) lanes(l *plot.Lanes) {
	for _, p := range l.Panels {
		for _, lane := range p.Lanes {
			for _, s := range lane.Spans {
				text := l.Kinds[s.Kind].Name
				if s.Text != "" {
					text += "; " + s.Text
				}
				if s.Wait > 0 {
					text += fmt.Sprintf("; waited %s ms", digits(s.Wait))
				}
				t.add(p.Title+", "+lane.Name, false, digits(s.From), digits(s.To), "", text)
			}
		}
	}
}
