package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// bars draws Bars. Group g stands at x = g.
type bars struct{ *Bars }

// groupWidth is the share of a group's room that its bars take.
const groupWidth = 0.84

// center is the place of a bar, in units of groups.
func (b bars) center(g, k int) float64 {
	n := float64(len(b.Bars.Bars))
	return float64(g) - groupWidth/2 + groupWidth*(float64(k)+0.5)/n
}

// fill is the colour of a part of a bar.
func (b bars) fill(k, part int) color.Color {
	if len(b.Parts) > 1 {
		return b.Fill[part]
	}
	return b.Fill[k]
}

// Plot is part of plot.Plotter.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for g := range b.Value {
		for k, parts := range b.Value[g] {
			half := (x(float64(1)) - x(0)) * vg.Length(groupWidth/float64(len(b.Bars.Bars))*0.45)
			at, sum := x(b.center(g, k)), 0.0
			for part, v := range parts {
				if math.IsNaN(v) {
					continue
				}
				b.box(&c, at-half, at+half, y(sum), y(sum+v), b.fill(k, part))
				sum += v
			}
			b.interval(&c, at, y, sum, g, k)
			b.paper(&c, at, y, g, k)
			b.name(&c, at, k)
		}
	}
}

func (b bars) box(c *draw.Canvas, left, right, bottom, top vg.Length, fill color.Color) {
	corners := []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}}
	c.FillPolygon(fill, c.ClipPolygonXY(corners))
	c.StrokeLines(draw.LineStyle{Color: color.Black, Width: vg.Points(0.4)}, append(corners, corners[0]))
}

func (b bars) interval(c *draw.Canvas, at vg.Length, y func(float64) vg.Length, top float64, g, k int) {
	if b.Half == nil || b.Half[g][k] <= 0 || math.IsNaN(b.Half[g][k]) {
		return
	}
	sty := draw.LineStyle{Color: color.Gray{90}, Width: vg.Points(1)}
	low, high := y(top-b.Half[g][k]), y(top+b.Half[g][k])
	c.StrokeLine2(sty, at, low, at, high)
	c.StrokeLine2(sty, at-2, low, at+2, low)
	c.StrokeLine2(sty, at-2, high, at+2, high)
}

// paper draws a hollow mark where each part of the paper's bar ends.
func (b bars) paper(c *draw.Canvas, at vg.Length, y func(float64) vg.Length, g, k int) {
	if b.Paper == nil {
		return
	}
	sum := 0.0
	for part, v := range b.Paper[g][k] {
		if math.IsNaN(v) {
			continue
		}
		sum += v
		if len(b.Parts) > 1 && (part == len(b.Parts)-1 || v == 0) {
			continue // the whole is 100 %
		}
		c.DrawGlyph(paperGlyph(Mark(part)), vg.Point{X: at, Y: y(sum)})
	}
}

func paperGlyph(m Mark) draw.GlyphStyle {
	return draw.GlyphStyle{Color: color.RGBA{190, 0, 0, 255}, Radius: markRadius, Shape: glyph{m, true}}
}

// name writes the bar's name below it, if bars are not told by the legend.
func (b bars) name(c *draw.Canvas, at vg.Length, k int) {
	if len(b.Parts) < 2 {
		return
	}
	sty := textStyle(7.5)
	sty.XAlign, sty.YAlign = draw.XCenter, draw.YTop
	c.FillText(sty, vg.Point{X: at, Y: c.Min.Y - vg.Points(1.5)}, b.Bars.Bars[k])
}

// DataRange is part of plot.DataRanger.
func (b bars) DataRange() (xmin, xmax, ymin, ymax float64) {
	top := 0.0
	for _, all := range [][][][]float64{b.Value, b.Paper} {
		for g := range all {
			for k, parts := range all[g] {
				sum := 0.0
				for _, v := range parts {
					if !math.IsNaN(v) {
						sum += v
					}
				}
				if b.Half != nil {
					sum += b.Half[g][k]
				}
				top = max(top, sum)
			}
		}
	}
	return -0.5, float64(len(b.Groups)) - 0.5, 0, top * 1.05
}

// square is the legend's sample of a fill.
type square struct{ fill color.Color }

// Thumbnail draws it.
func (s square) Thumbnail(c *draw.Canvas) {
	m := c.Center()
	r := vg.Points(4)
	corners := []vg.Point{{X: m.X - r, Y: m.Y - r}, {X: m.X + r, Y: m.Y - r}, {X: m.X + r, Y: m.Y + r}, {X: m.X - r, Y: m.Y + r}}
	c.FillPolygon(s.fill, corners)
	c.StrokeLines(draw.LineStyle{Color: color.Black, Width: vg.Points(0.4)}, append(corners, corners[0]))
}

// hollow is the legend's sample of the paper's values.
type hollow struct{ style draw.GlyphStyle }

// Thumbnail draws it.
func (h hollow) Thumbnail(c *draw.Canvas) { c.DrawGlyphNoClip(h.style, c.Center()) }
