package plot

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lanes is a time line: a lane for each of several things, which are in one state
// after another. The axis' label and range are those of the Chart's X.
type Lanes struct {
	Panels []LanePanel // from the top
	Kinds  []LaneKind  // of stretches
}

// LanePanel is lanes under a heading.
type LanePanel struct {
	Title string
	Lanes []Lane
}

// Lane is one thing.
type Lane struct {
	Name  string
	Spans []LaneSpan
}

// LaneSpan is a stretch.
type LaneSpan struct {
	From, To float64
	Kind     int // index into Kinds
	Text     string
	// Wait is how long something waited before From: drawn as an arrow that ends
	// there. 0 is none.
	Wait float64
}

// LaneKind is how a state looks. Kinds must differ in lightness or in hatching, so that
// they can be told apart in grey.
type LaneKind struct {
	Name  string
	Fill  color.Color
	Hatch bool // lines across it
	Thin  bool // a third as high
}

const (
	laneHigh  = vg.Length(28)
	laneBar   = vg.Length(13)
	laneTop   = vg.Length(20) // the chart's title
	panelTop  = vg.Length(17) // the panel's
	laneLeft  = vg.Length(30)
	laneBelow = vg.Length(30) // ticks and label of the axis
)

func (l *Lanes) height(legend *legend) vg.Length {
	h := laneTop + laneBelow + legend.height() + 6
	for _, p := range l.Panels {
		h += panelTop + laneHigh*vg.Length(len(p.Lanes))
	}
	return h
}

// laneArea places times.
type laneArea struct {
	c           *draw.Canvas
	min, max    float64
	left, right vg.Length
}

func (a laneArea) x(t float64) vg.Length {
	share := (min(max(t, a.min), a.max) - a.min) / (a.max - a.min)
	return a.left + (a.right-a.left)*vg.Length(share)
}

func (ch *Chart) drawLanes(c draw.Canvas) error {
	l := ch.Lanes
	if !(ch.X.Max > ch.X.Min) {
		return fmt.Errorf("draw %s: its time ends where it begins", ch.Title)
	}
	for _, p := range l.Panels {
		for _, lane := range p.Lanes {
			for _, s := range lane.Spans {
				if s.Kind < 0 || s.Kind >= len(l.Kinds) || s.To < s.From {
					return fmt.Errorf("draw %s: lane %s has a stretch %+v", ch.Title, lane.Name, s)
				}
			}
		}
	}
	a := laneArea{&c, ch.X.Min, ch.X.Max, c.Min.X + laneLeft, c.Max.X - 10}
	put(&c, titleSize(ch.Title), draw.XCenter, (c.Min.X+c.Max.X)/2, c.Max.Y-12, ch.Title)
	y := c.Max.Y - laneTop
	ticks := niceTicks(ch.X.Min, ch.X.Max)
	for _, p := range l.Panels {
		put(&c, 9, draw.XLeft, c.Min.X+6, y-panelTop/2-1, p.Title)
		y -= panelTop
		bottom := y - laneHigh*vg.Length(len(p.Lanes))
		for _, t := range ticks {
			c.StrokeLine2(draw.LineStyle{Color: color.Gray{222}, Width: vg.Points(0.5)}, a.x(t.Value), bottom, a.x(t.Value), y)
		}
		for _, lane := range p.Lanes {
			a.lane(l, lane, y)
			y -= laneHigh
		}
	}
	c.StrokeLine2(draw.LineStyle{Color: color.Black, Width: vg.Points(0.5)}, a.left, y, a.right, y)
	for _, t := range ticks {
		c.StrokeLine2(draw.LineStyle{Color: color.Black, Width: vg.Points(0.5)}, a.x(t.Value), y, a.x(t.Value), y-3)
		put(&c, 9, draw.XCenter, a.x(t.Value), y-9, t.Label)
	}
	put(&c, 10, draw.XCenter, (a.left+a.right)/2, y-22, ch.X.Label)
	legend := newLegend(ch)
	legend.draw(draw.Crop(c, vg.Points(8), -vg.Points(4), vg.Points(2), legend.height()-c.Size().Y))
	return nil
}

// lane draws one lane whose upper edge is at top.
func (a laneArea) lane(l *Lanes, lane Lane, top vg.Length) {
	bottom := top - laneHigh + 2
	middle := bottom + laneBar/2
	put(a.c, 8.5, draw.XRight, a.left-5, middle, lane.Name)
	for _, s := range lane.Spans {
		if s.To <= a.min || s.From >= a.max {
			continue
		}
		a.span(l.Kinds[s.Kind], s, middle)
	}
	var waits []LaneSpan
	for _, s := range lane.Spans {
		if s.Wait > 0 && s.From > a.min && s.From < a.max {
			a.wait(s, bottom+laneBar, arrowStep*vg.Length(1+level(waits, s)))
			waits = append(waits, s)
		}
	}
}

const (
	arrowStep   = vg.Length(3.2)
	mostArrows  = 4 // above each other
	arrowLength = vg.Length(3)
)

// level tells how many of the arrows so far a new one would run into, so that
// it stands above them.
func level(waits []LaneSpan, s LaneSpan) int {
	n := 0
	for _, w := range waits {
		if s.From-s.Wait < w.From {
			n++
		}
	}
	return n % mostArrows
}

func (a laneArea) span(k LaneKind, s LaneSpan, middle vg.Length) {
	half := laneBar / 2
	if k.Thin {
		half = laneBar / 6
	}
	r := vg.Rectangle{Min: vg.Point{X: a.x(s.From), Y: middle - half}, Max: vg.Point{X: a.x(s.To), Y: middle + half}}
	stretch(a.c, k, r)
	if s.Text == "" {
		return
	}
	sty := centred(8)
	if sty.Width(s.Text) > r.Max.X-r.Min.X-1 {
		return // the table has it
	}
	sty.Color = ink(k.Fill)
	a.c.FillText(sty, vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: middle}, s.Text)
}

// wait draws an arrow from where a request came to where it began, so high above the
// upper edge of the bar.
func (a laneArea) wait(s LaneSpan, edge, above vg.Length) {
	from, to, y := a.x(s.From-s.Wait), a.x(s.From), edge+above
	sty := draw.LineStyle{Color: color.Black, Width: vg.Points(0.8)}
	dashed := sty
	dashed.Dashes = []vg.Length{3, 1.5}
	a.c.StrokeLine2(sty, from, y-1.5, from, y+1.5)
	a.c.StrokeLine2(dashed, from, y, to, y)
	a.c.StrokeLine2(sty, to, y, to, edge)
	a.c.FillPolygon(color.Black, []vg.Point{{X: to - 1.6, Y: edge + arrowLength}, {X: to + 1.6, Y: edge + arrowLength}, {X: to, Y: edge}})
}

// stretch draws a rectangle of a kind.
func stretch(c *draw.Canvas, k LaneKind, r vg.Rectangle) {
	corners := []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
	c.FillPolygon(k.Fill, corners)
	sty := draw.LineStyle{Color: color.Black, Width: vg.Points(0.4)}
	if k.Hatch {
		high := r.Max.Y - r.Min.Y
		for x := r.Min.X - high; x < r.Max.X; x += 4 {
			from, to := max(x, r.Min.X), min(x+high, r.Max.X)
			if from < to {
				c.StrokeLine2(sty, from, r.Min.Y+from-x, to, r.Min.Y+to-x)
			}
		}
	}
	c.StrokeLines(sty, append(corners, corners[0]))
}

// ink is black or white, whichever is legible on a colour.
func ink(on color.Color) color.Color {
	if color.GrayModel.Convert(on).(color.Gray).Y < 128 {
		return color.White
	}
	return color.Black
}

// laneSample is the legend's sample of a kind.
type laneSample struct{ LaneKind }

// Thumbnail draws it.
func (s laneSample) Thumbnail(c *draw.Canvas) {
	m, high := c.Center(), vg.Points(4)
	if s.Thin {
		high = vg.Points(1.6)
	}
	stretch(c, s.LaneKind, vg.Rectangle{Min: vg.Point{X: m.X - 10, Y: m.Y - high}, Max: vg.Point{X: m.X + 10, Y: m.Y + high}})
}

// waitSample is that of an arrow.
type waitSample struct{}

// Thumbnail draws it.
func (waitSample) Thumbnail(c *draw.Canvas) {
	m := c.Center()
	laneArea{c: c, min: 0, max: 1, left: m.X - 10, right: m.X + 10}.wait(LaneSpan{From: 1, Wait: 1}, m.Y-3, 5)
}
