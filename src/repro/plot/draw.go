package plot

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Size of the axes with their labels. The legend's height comes on top.
const (
	width  = 4.7 * vg.Inch
	height = 3.1 * vg.Inch
	dpi    = 200
)

// WriteSVG draws a chart as SVG.
func WriteSVG(w io.Writer, ch Chart) error {
	size := ch.height()
	svg := vgsvg.New(width, size)
	if err := ch.draw(draw.New(svg)); err != nil {
		return err
	}
	var buf bytes.Buffer
	if _, err := svg.WriteTo(&buf); err != nil {
		return fmt.Errorf("draw svg: %w", err)
	}
	// Whoever has no Liberation fonts has one with their metrics.
	named := bytes.ReplaceAll(buf.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	if _, err := w.Write(named); err != nil {
		return fmt.Errorf("write svg: %w", err)
	}
	return nil
}

// WritePNG draws a chart as PNG, about 900 pixels wide.
func WritePNG(w io.Writer, ch Chart) error {
	img := vgimg.NewWith(vgimg.UseWH(width, ch.height()), vgimg.UseDPI(dpi))
	if err := ch.draw(draw.New(img)); err != nil {
		return err
	}
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(w); err != nil {
		return fmt.Errorf("write png: %w", err)
	}
	return nil
}

func textStyle(points vg.Length) text.Style {
	return text.Style{
		Color: color.Black, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, points),
		Handler: text.Plain{Fonts: font.DefaultCache},
	}
}

func (ch *Chart) height() vg.Length {
	if ch.Map != nil {
		return ch.Map.height()
	}
	if ch.Lanes != nil {
		return ch.Lanes.height(newLegend(ch))
	}
	return height + newLegend(ch).height()
}

func (ch *Chart) draw(c draw.Canvas) error {
	if ch.Map != nil {
		fillAll(c)
		return ch.drawMap(c)
	}
	if ch.Lanes != nil {
		fillAll(c)
		return ch.drawLanes(c)
	}
	p := plot.New()
	p.Title.Text = ch.Title
	p.Title.Padding = vg.Points(6)
	title := textStyle(titleSize(ch.Title))
	title.XAlign, title.YAlign = draw.XCenter, draw.YTop
	p.Title.TextStyle = title
	if ch.Bars != nil {
		p.Add(grid{}, bars{ch.Bars})
	} else {
		p.Add(grid{})
	}
	for _, s := range ch.Series {
		if len(s.X) != len(s.Y) {
			return fmt.Errorf("draw %s: series %s has %d x and %d y", ch.Title, s.Name, len(s.X), len(s.Y))
		}
		p.Add(line{s})
	}
	ch.axis(&p.X, ch.X, false)
	ch.axis(&p.Y, ch.Y, true)
	if ch.Bars != nil {
		ch.barAxis(p)
	}
	legend := newLegend(ch)
	fillAll(c)
	p.Draw(draw.Crop(c, vg.Points(4), -vg.Points(8), legend.height()+vg.Points(2), -vg.Points(4)))
	legend.draw(draw.Crop(c, vg.Points(8), -vg.Points(4), vg.Points(2), legend.height()-c.Size().Y))
	return nil
}

// titleSize is the size of letters, in points, with which a title fits into the
// width of a chart: 11, or less for long ones.
func titleSize(title string) vg.Length {
	size := vg.Length(11)
	for size > 6 && textStyle(size).Width(title) > width-vg.Points(20) {
		size -= 0.5
	}
	return size
}

func fillAll(c draw.Canvas) {
	c.FillPolygon(color.White, []vg.Point{
		c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y},
	})
}

func (ch *Chart) axis(to *plot.Axis, from Axis, vertical bool) {
	to.Label.Text = from.Label
	to.Label.Padding = vg.Points(2)
	label, tick := textStyle(10), textStyle(9)
	label.XAlign, label.YAlign = draw.XCenter, draw.YBottom // the library turns the vertical one
	tick.XAlign, tick.YAlign = draw.XCenter, draw.YTop
	if vertical {
		tick.XAlign, tick.YAlign = draw.XRight, draw.YCenter
	}
	to.Label.TextStyle, to.Tick.Label, to.Tick.Length = label, tick, vg.Points(4)
	to.Tick.Marker = plot.TickerFunc(niceTicks)
	switch margin := (to.Max - to.Min) / 25; {
	case from.Min != from.Max:
		to.Min, to.Max = from.Min, from.Max
	case ch.Bars == nil && !math.IsInf(margin, 0):
		to.Min, to.Max = to.Min-margin, to.Max+margin // marks at the edge stay whole
	}
	if from.Log {
		to.Scale, to.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	if from.Ticks != nil {
		to.Tick.Marker = constant(from.Ticks)
	}
}

// niceTicks returns four to eight labelled places at 1, 2 or 5 times a power
// of ten.
func niceTicks(low, high float64) []plot.Tick {
	if !(high > low) {
		return []plot.Tick{{Value: low, Label: label(low, 0)}}
	}
	power := math.Floor(math.Log10((high - low) / 4))
	step := math.Pow(10, power)
	for _, m := range []float64{5, 2} {
		if (high-low)/(m*step) >= 4 {
			step *= m
			break
		}
	}
	var all []plot.Tick
	for i := math.Ceil(low/step - 1e-9); i*step <= high+1e-9*step; i++ {
		all = append(all, plot.Tick{Value: i * step, Label: label(i*step, int(max(0, -math.Floor(math.Log10(step)))))})
	}
	return all
}

func label(v float64, decimals int) string {
	if v == 0 {
		v = 0 // -0 would be written with its sign
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

func constant(ticks []Tick) plot.ConstantTicks {
	var all plot.ConstantTicks
	for _, t := range ticks {
		all = append(all, plot.Tick{Value: t.At, Label: t.Label})
	}
	return all
}

// barAxis names the groups.
func (ch *Chart) barAxis(p *plot.Plot) {
	var ticks []Tick
	many := len(ch.Bars.Groups) > 5
	if many {
		sty := textStyle(7.5)
		sty.XAlign, sty.YAlign = draw.XCenter, draw.YTop
		p.X.Tick.Label = sty
	}
	for g, name := range ch.Bars.Groups {
		if many && len(name) > 6 {
			name = strings.Replace(strings.Replace(name, "_", "_\n", 1), " ", "\n", 1)
		}
		if len(ch.Bars.Parts) > 1 {
			name = "\n" + name // below the names of the bars
		}
		ticks = append(ticks, Tick{float64(g), name})
	}
	p.X.Tick.Marker = constant(ticks)
	p.X.Tick.Length = vg.Points(2)
	p.X.Tick.LineStyle.Width = 0
	p.X.Padding = 0
	p.Y.Padding = 0
}

// grid draws faint horizontal lines at the labelled ticks.
type grid struct{}

// Plot is part of plot.Plotter.
func (grid) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	sty := draw.LineStyle{Color: color.Gray{222}, Width: vg.Points(0.5)}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if t.Label != "" && t.Value >= p.Y.Min && t.Value <= p.Y.Max {
			c.StrokeLine2(sty, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
}

// hasHollow tells whether values of the paper are drawn.
func (ch *Chart) hasHollow() bool {
	return ch.PaperMarks || slices.ContainsFunc(ch.Series, func(s Series) bool { return s.Hollow }) || ch.Bars != nil && ch.Bars.Paper != nil
}
