package plot

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Map is a row of panels, each a grid of shaded cells with text in them: the
// text carries what the shade does not, so that it reads in grey. The axes'
// labels are those of the Chart.
type Map struct {
	Columns, Rows []string // from the left, from the bottom
	Panels        []Panel
	Scale         string   // what the shade means, from white to dark
	Legend        []string // lines below
}

// Panel is one grid.
type Panel struct {
	Title string
	Cells [][]MapCell // by row, column
}

// MapCell is a cell: its shade from 0 (white) to 1 (dark), and its lines.
type MapCell struct {
	Shade float64
	Lines []string
}

const (
	mapTop    = vg.Length(38) // title and titles of panels
	mapBelow  = vg.Length(34) // names of columns, label of the axis
	mapLeft   = vg.Length(46) // label of the axis, names of rows
	mapGap    = vg.Length(7)
	cellHigh  = vg.Length(27)
	scaleHigh = vg.Length(18)
)

func (m *Map) height() vg.Length {
	return mapTop + cellHigh*vg.Length(len(m.Rows)) + mapBelow + scaleHigh + rowHeight*vg.Length(len(m.Legend)) + 4
}

// cellWide is the width of a cell.
func (m *Map) cellWide() vg.Length {
	n := vg.Length(len(m.Panels))
	return (width - mapLeft - 8 - mapGap*(n-1)) / n / vg.Length(len(m.Columns))
}

func (ch *Chart) drawMap(c draw.Canvas) error {
	m := ch.Map
	bottom := c.Max.Y - mapTop - cellHigh*vg.Length(len(m.Rows))
	for i, p := range m.Panels {
		if len(p.Cells) != len(m.Rows) {
			return fmt.Errorf("draw %s: panel %s has %d rows, not %d", ch.Title, p.Title, len(p.Cells), len(m.Rows))
		}
		left := c.Min.X + mapLeft + vg.Length(i)*(m.cellWide()*vg.Length(len(m.Columns))+mapGap)
		m.panel(&c, p, left, bottom)
	}
	middle := c.Min.X + (mapLeft+width)/2
	put(&c, titleSize(ch.Title), draw.XCenter, middle, c.Max.Y-12, ch.Title)
	for r, name := range m.Rows {
		put(&c, 8, draw.XRight, c.Min.X+mapLeft-4, bottom+cellHigh*(vg.Length(r)+0.5), name)
	}
	put(&c, 9.5, draw.XCenter, middle, bottom-24, ch.X.Label)
	turned := textStyle(9.5)
	turned.XAlign, turned.YAlign, turned.Rotation = draw.XCenter, draw.YCenter, 1.5707963267948966
	c.FillText(turned, vg.Point{X: c.Min.X + 12, Y: bottom + cellHigh*vg.Length(len(m.Rows))/2}, ch.Y.Label)
	m.below(&c, bottom-mapBelow)
	return nil
}

// panel draws one grid with its title and the names of its columns.
func (m *Map) panel(c *draw.Canvas, p Panel, left, bottom vg.Length) {
	w := m.cellWide()
	put(c, 9, draw.XCenter, left+w*vg.Length(len(m.Columns))/2, bottom+cellHigh*vg.Length(len(m.Rows))+9, p.Title)
	for i, name := range m.Columns {
		put(c, 8, draw.XCenter, left+w*(vg.Length(i)+0.5), bottom-8, name)
	}
	for r, cells := range p.Cells {
		for k, cell := range cells {
			drawCell(c, cell, left+w*vg.Length(k), bottom+cellHigh*vg.Length(r), w)
		}
	}
}

func drawCell(c *draw.Canvas, cell MapCell, x, y, w vg.Length) {
	corners := []vg.Point{{X: x, Y: y}, {X: x + w, Y: y}, {X: x + w, Y: y + cellHigh}, {X: x, Y: y + cellHigh}}
	c.FillPolygon(shade(cell.Shade), corners)
	c.StrokeLines(draw.LineStyle{Color: color.Gray{120}, Width: vg.Points(0.4)}, append(corners, corners[0]))
	step := cellHigh / vg.Length(len(cell.Lines)+1)
	for i, line := range cell.Lines {
		sty := centred(8)
		if cell.Shade > 0.55 {
			sty.Color = color.White
		}
		c.FillText(sty, vg.Point{X: x + w/2, Y: y + cellHigh - step*vg.Length(i+1)}, line)
	}
}

// shade goes from white to dark blue; its lightness falls all the way.
func shade(v float64) color.Color {
	v = min(max(v, 0), 1)
	mix := func(to float64) uint8 { return uint8(255 + (to-255)*v) }
	return color.RGBA{mix(0), mix(62), mix(110), 255}
}

// below draws the scale and the legend.
func (m *Map) below(c *draw.Canvas, y vg.Length) {
	const steps, wide = 6, vg.Length(12)
	x := c.Min.X + 10
	for i := range steps {
		at := x + wide*vg.Length(i)
		corners := []vg.Point{{X: at, Y: y - 10}, {X: at + wide, Y: y - 10}, {X: at + wide, Y: y}, {X: at, Y: y}}
		c.FillPolygon(shade(float64(i)/(steps-1)), corners)
		c.StrokeLines(draw.LineStyle{Color: color.Gray{120}, Width: vg.Points(0.4)}, append(corners, corners[0]))
	}
	put(c, 8.5, draw.XLeft, x+wide*steps+gap, y-5, m.Scale)
	for i, line := range m.Legend {
		put(c, 8.5, draw.XLeft, x, y-scaleHigh-rowHeight*(vg.Length(i)+0.5), line)
	}
}

func centred(points vg.Length) text.Style {
	sty := textStyle(points)
	sty.XAlign, sty.YAlign = draw.XCenter, draw.YCenter
	return sty
}

// put writes a line whose middle stands at y.
func put(c *draw.Canvas, points vg.Length, align text.XAlignment, x, y vg.Length, line string) {
	sty := centred(points)
	sty.XAlign = align
	c.FillText(sty, vg.Point{X: x, Y: y}, line)
}
