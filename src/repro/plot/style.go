package plot

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Style tells a series from the others.
type Style struct {
	Color color.Color
	Dash  []vg.Length // nil: solid
	Mark  Mark
}

// Mark is the shape of a point.
type Mark uint8

// Marks.
const (
	Circle Mark = iota
	Square
	Up
	Diamond
	Down
	Cross
	Plus
	marks // their number
)

// palette is Okabe and Ito's, told apart by the colour-blind; yellow is left
// out because it is pale on white.
func palette() []color.Color {
	rgb := func(r, g, b uint8) color.Color { return color.RGBA{r, g, b, 255} }
	return []color.Color{
		rgb(0, 114, 178), rgb(213, 94, 0), rgb(0, 158, 115), rgb(204, 121, 167), rgb(86, 180, 233), rgb(230, 159, 0), rgb(0, 0, 0),
	}
}

// StyleOf returns the i-th style, i from 0. The first 7 differ in everything,
// the first 49 in something.
func StyleOf(i int) Style {
	p := palette()
	dashes := [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 2, 2, 2}, {4, 2, 1, 2}, {10, 3}, {1, 3}}
	n := len(p)
	return Style{Color: p[i%n], Dash: dashes[(i+i/n)%len(dashes)], Mark: Mark((i + 2*(i/n)) % int(marks))}
}

// Fills returns n fills whose lightness differs, darkest first, for parts of bars.
func Fills(n int) []color.Color {
	all := []color.Color{
		color.RGBA{0, 72, 116, 255},
		color.RGBA{86, 160, 211, 255},
		color.RGBA{214, 230, 242, 255},
		color.RGBA{230, 159, 0, 255},
		color.RGBA{250, 220, 160, 255},
		color.RGBA{120, 120, 120, 255},
		color.RGBA{200, 200, 200, 255},
		color.RGBA{0, 0, 0, 255},
	}
	out := make([]color.Color, n)
	for i := range out {
		out[i] = all[i%len(all)]
	}
	return out
}

// glyph draws a Mark, filled or hollow.
type glyph struct {
	mark   Mark
	hollow bool
}

// DrawGlyph is part of draw.GlyphDrawer.
func (g glyph) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	r := sty.Radius
	line := draw.LineStyle{Color: sty.Color, Width: vg.Points(0.9)}
	if g.mark == Cross || g.mark == Plus {
		g.strokes(c, line, at, r)
		return
	}
	path := g.outline(at, r)
	if g.hollow {
		c.SetColor(color.White)
	} else {
		c.SetColor(sty.Color)
	}
	c.Fill(path)
	c.SetLineStyle(line)
	c.Stroke(path)
}

// strokes draws the marks that have no inside. A hollow one stands in a ring.
func (g glyph) strokes(c *draw.Canvas, line draw.LineStyle, at vg.Point, r vg.Length) {
	if g.hollow {
		g.ring(c, line, at, r)
		r *= 0.6
	} else {
		line.Width = vg.Points(1.4)
	}
	if g.mark == Plus {
		c.StrokeLine2(line, at.X-r, at.Y, at.X+r, at.Y)
		c.StrokeLine2(line, at.X, at.Y-r, at.X, at.Y+r)
		return
	}
	d := r * 0.75
	c.StrokeLine2(line, at.X-d, at.Y-d, at.X+d, at.Y+d)
	c.StrokeLine2(line, at.X-d, at.Y+d, at.X+d, at.Y-d)
}

func (g glyph) ring(c *draw.Canvas, line draw.LineStyle, at vg.Point, r vg.Length) {
	path := glyph{mark: Circle}.outline(at, r)
	c.SetColor(color.White)
	c.Fill(path)
	c.SetLineStyle(line)
	c.Stroke(path)
}

func (g glyph) outline(at vg.Point, r vg.Length) vg.Path {
	var p vg.Path
	if g.mark == Circle {
		p.Move(vg.Point{X: at.X + r, Y: at.Y})
		p.Arc(at, r, 0, 2*3.141592653589793)
		p.Close()
		return p
	}
	s := r * 0.88
	corners := map[Mark][]vg.Point{
		Square:  {{X: -s, Y: -s}, {X: s, Y: -s}, {X: s, Y: s}, {X: -s, Y: s}},
		Up:      {{X: -r, Y: -0.8 * r}, {X: r, Y: -0.8 * r}, {X: 0, Y: 1.1 * r}},
		Down:    {{X: -r, Y: 0.8 * r}, {X: r, Y: 0.8 * r}, {X: 0, Y: -1.1 * r}},
		Diamond: {{X: -r, Y: 0}, {X: 0, Y: -1.2 * r}, {X: r, Y: 0}, {X: 0, Y: 1.2 * r}},
	}[g.mark]
	for i, k := range corners {
		if i == 0 {
			p.Move(at.Add(k))
		} else {
			p.Line(at.Add(k))
		}
	}
	p.Close()
	return p
}
