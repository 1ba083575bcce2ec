package plot

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// thumbnailer draws a sample of what an entry of the legend stands for.
type thumbnailer interface{ Thumbnail(*draw.Canvas) }

// legend stands below the axes, in as many columns as have room.
type legend struct {
	names   []string
	samples []thumbnailer
	columns int
	column  vg.Length // width
}

const (
	rowHeight   = vg.Length(14)
	sampleWidth = vg.Length(24)
	gap         = vg.Length(6)
)

func newLegend(ch *Chart) *legend {
	l := &legend{}
	add := func(name string, s thumbnailer) {
		if name != "" {
			l.names, l.samples = append(l.names, name), append(l.samples, s)
		}
	}
	for _, s := range ch.Series {
		add(s.Name, line{s})
	}
	if b := ch.Bars; b != nil {
		names := b.Bars
		if len(b.Parts) > 1 {
			names = b.Parts
		}
		for i, name := range names {
			if len(names) > 1 {
				add(name, square{b.Fill[i]})
			}
		}
	}
	if l := ch.Lanes; l != nil {
		for _, k := range l.Kinds {
			add(k.Name, laneSample{k})
		}
		add("a request waits", waitSample{})
	}
	if ch.hasHollow() {
		style := draw.GlyphStyle{Color: color.Gray{90}, Radius: markRadius, Shape: glyph{Circle, true}}
		if ch.Bars != nil {
			style = paperGlyph(Circle)
		}
		add("hollow: the paper", hollow{style})
	}
	l.arrange()
	return l
}

// arrange chooses the number of columns.
func (l *legend) arrange() {
	widest, sty := vg.Length(0), textStyle(9)
	for _, name := range l.names {
		widest = max(widest, sty.Width(name))
	}
	l.column = sampleWidth + gap + widest + 2*gap
	l.columns = max(1, min(len(l.names), int((width-vg.Points(12))/l.column)))
}

func (l *legend) rows() int { return (len(l.names) + l.columns - 1) / l.columns }

func (l *legend) height() vg.Length {
	if len(l.names) == 0 {
		return 0
	}
	return vg.Length(l.rows())*rowHeight + vg.Points(4)
}

func (l *legend) draw(c draw.Canvas) {
	sty := textStyle(9)
	sty.YAlign = draw.YCenter
	for i, name := range l.names {
		x := c.Min.X + vg.Length(i%l.columns)*l.column
		y := c.Max.Y - vg.Length(i/l.columns)*rowHeight
		cell := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: x, Y: y - rowHeight}, Max: vg.Point{X: x + sampleWidth, Y: y},
		}}
		l.samples[i].Thumbnail(&cell)
		c.FillText(sty, vg.Point{X: x + sampleWidth + gap, Y: y - rowHeight/2}, name)
	}
}
