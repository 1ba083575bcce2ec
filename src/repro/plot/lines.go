package plot

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	markRadius = vg.Length(3)
	lineWidth  = vg.Length(1.3)
)

// line draws a Series.
type line struct{ Series }

// Plot is part of plot.Plotter.
func (l line) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var points []vg.Point
	for i := range l.X {
		if l.Drawn(i) {
			points = append(points, vg.Point{X: x(l.X[i]), Y: y(l.Y[i])})
		}
	}
	if !l.Hollow {
		c.StrokeLines(l.stroke(), c.ClipLinesXY(points)...)
		l.errors(&c, x, y)
	}
	every := max(1, l.Every)
	for i, at := range points {
		if i%every == every/2 {
			c.DrawGlyph(l.glyph(), at)
		}
	}
}

// errors draws the intervals.
func (l line) errors(c *draw.Canvas, x, y func(float64) vg.Length) {
	sty := draw.LineStyle{Color: l.Color, Width: vg.Points(0.8)}
	for i := range l.Half {
		if !l.Drawn(i) || l.Half[i] <= 0 {
			continue
		}
		at, low, high := x(l.X[i]), y(l.Y[i]-l.Half[i]), y(l.Y[i]+l.Half[i])
		c.StrokeLines(sty, c.ClipLinesXY(
			[]vg.Point{{X: at, Y: low}, {X: at, Y: high}},
			[]vg.Point{{X: at - 2, Y: low}, {X: at + 2, Y: low}},
			[]vg.Point{{X: at - 2, Y: high}, {X: at + 2, Y: high}},
		)...)
	}
}

func (l line) stroke() draw.LineStyle {
	return draw.LineStyle{Color: l.Color, Width: lineWidth, Dashes: l.Dash}
}

func (l line) glyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.Color, Radius: markRadius, Shape: glyph{l.Mark, l.Hollow}}
}

// DataRange is part of plot.DataRanger.
func (l line) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for i := range l.X {
		if !l.Drawn(i) {
			continue
		}
		half := 0.0
		if i < len(l.Half) {
			half = l.Half[i]
		}
		xmin, xmax = min(xmin, l.X[i]), max(xmax, l.X[i])
		ymin, ymax = min(ymin, l.Y[i]-half), max(ymax, l.Y[i]+half)
	}
	return xmin, xmax, ymin, ymax
}

// Thumbnail draws the legend's sample.
func (l line) Thumbnail(c *draw.Canvas) {
	y := c.Center().Y
	if !l.Hollow {
		c.StrokeLine2(l.stroke(), c.Min.X, y, c.Max.X, y)
	}
	c.DrawGlyphNoClip(l.glyph(), c.Center())
}
