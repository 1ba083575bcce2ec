package repro

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/open-lambda/open-lambda/src/repro/plot"
	"github.com/open-lambda/open-lambda/src/trace"
)

// points crosses contenders with cache sizes.
func points(s Scene, workload string, cs []contender, gbs ...float64) []Point {
	var all []Point
	for _, gb := range gbs {
		for _, c := range cs {
			all = append(all, s.at(workload, c.policy, gb))
		}
	}
	return all
}

// crossed crosses points with values of something that changes them.
func crossed[T any](ps []Point, change func(Point, T) Point, values []T) []Point {
	var all []Point
	for _, p := range ps {
		for _, v := range values {
			all = append(all, change(p, v))
		}
	}
	return all
}

// sizes are the paper's cache sizes, GB.
func sizes() []float64 { return []float64{80, 100, 120, 140, 160} }

// overheadRow compares a contender's overhead with the paper's.
func overheadRow(d *Data, workload string, c contender, gb, paper float64, key ...string) Row {
	return Row{
		Key: key, Ours: d.over(c.at(d.Scene, workload, gb), overhead), Paper: paper,
		Fitted: fits(workload, c.policy, trace.Overhead, gb),
	}
}

// defaultGB is the paper's default cache size.
const defaultGB = 100

func text(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// series draws values of a contender over x, and the paper's beside it.
type series struct {
	contender
	x, y, half, paper []float64
}

func (s *series) add(x float64, r Row) {
	s.x, s.y, s.half, s.paper = append(s.x, x), append(s.y, r.Ours.Mean), append(s.half, r.Ours.Half), append(s.paper, r.Paper)
}

// lines returns ours, and the paper's as hollow marks if it has any. Two forms
// of one policy of the paper share its marks.
func lines(all []series) []plot.Series {
	var out []plot.Series
	var drawn []string
	for _, s := range all {
		out = append(out, plot.Series{Name: s.name, X: s.x, Y: s.y, Half: s.half, Style: plot.StyleOf(s.style)})
		if s.contender.paper == "" || slices.Contains(drawn, s.contender.paper) {
			continue
		}
		drawn = append(drawn, s.contender.paper)
		out = append(out, plot.Series{Data: s.name, X: s.x, Y: s.paper, Style: plot.StyleOf(s.style), Hollow: true})
	}
	return out
}

// distribution draws a curve of times.
func distribution(c contender, of Curve) plot.Series {
	s := plot.Series{Name: c.name, Style: plot.StyleOf(c.style), Every: 25}
	for i, v := range of {
		s.X, s.Y = append(s.X, v), append(s.Y, float64(i)/curveSteps)
	}
	return s
}

// quantileMarks draws quantiles of the paper as hollow marks.
func quantileMarks(c contender, at map[float64]float64) plot.Series {
	s := plot.Series{Data: c.name, Style: plot.StyleOf(c.style), Hollow: true}
	for _, share := range slices.Sorted(maps.Keys(at)) {
		s.X, s.Y = append(s.X, at[share]), append(s.Y, share)
	}
	return s
}

// fromRows makes bars of one part of table rows: groups by the first key, bars
// by the second, or one bar a group if there is one key.
func fromRows(rows []Row, half bool) *plot.Bars {
	b := &plot.Bars{Parts: []string{""}}
	for _, r := range rows {
		group, bar := r.Key[0], ""
		if len(r.Key) > 1 {
			bar = r.Key[1]
		}
		if !slices.Contains(b.Groups, group) {
			b.Groups = append(b.Groups, group)
			b.Value, b.Paper, b.Half = append(b.Value, nil), append(b.Paper, nil), append(b.Half, nil)
		}
		if !slices.Contains(b.Bars, bar) {
			b.Bars = append(b.Bars, bar)
		}
		g := slices.Index(b.Groups, group)
		b.Value[g] = append(b.Value[g], []float64{r.Ours.Mean})
		b.Paper[g] = append(b.Paper[g], []float64{r.Paper})
		b.Half[g] = append(b.Half[g], r.Ours.Half)
	}
	if !half {
		b.Half = nil
	}
	b.Fill = plot.Fills(len(b.Bars))
	return b
}

// quantile is one that the paper's files have under a name.
type quantile struct {
	name  string
	share float64
}

func quantiles() []quantile {
	return []quantile{{"p10", 0.1}, {"p50", 0.5}, {"p75", 0.75}, {"p90", 0.9}, {"p95", 0.95}, {"p97", 0.97}, {"p98", 0.98}, {"p99", 0.99}, {"p99_5", 0.995}}
}

// quantileRows compares quantiles of a curve with those that the paper has (NaN:
// it has not); of a policy that it does not know it shows three. It returns the
// paper's by their share as well.
func quantileRows(d *Data, p Point, key []string, of func(*Measured) Curve, paper func(name string) float64) ([]Row, map[float64]float64) {
	var rows []Row
	at := map[float64]float64{}
	add := func(q quantile) {
		rows = append(rows, Row{
			Key: append(slices.Clone(key), q.name+" (ms)"), Paper: paper(q.name),
			Ours: d.over(p, func(m *Measured) float64 { return of(m).At(q.share) }),
		})
	}
	for _, q := range quantiles() {
		if theirs := paper(q.name); !math.IsNaN(theirs) {
			at[q.share] = theirs
			add(q)
		}
	}
	if len(at) == 0 {
		for _, q := range []quantile{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}} {
			add(q)
		}
	}
	return rows, at
}
