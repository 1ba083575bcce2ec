package plot

import (
	"image/color"
	"math"
)

// Chart is one set of axes with what is drawn in it. It has Series, or Bars, or a
// Map, or Lanes.
type Chart struct {
	Title  string
	X, Y   Axis
	Series []Series
	Bars   *Bars
	Map    *Map
	Lanes  *Lanes
	// PaperMarks explains hollow marks in the legend.
	PaperMarks bool
}

// Axis is one of the two.
type Axis struct {
	Label    string  // with the unit: "memory (GB)"
	Min, Max float64 // both 0: taken from the data
	Log      bool
	Ticks    []Tick // nil: chosen
}

// Tick is a labelled place on an axis.
type Tick struct {
	At    float64
	Label string
}

// Series is a line through points.
type Series struct {
	Name string // "" keeps it out of the legend
	Data string // its name beside numbers; "" is Name
	X, Y []float64
	Half []float64 // half widths of intervals around Y; nil: none
	Style
	// Hollow draws hollow marks and no line: values of the paper.
	Hollow bool
	// Every draws a mark at each Every-th point only, for curves; 0 is 1.
	Every int
}

// DataName names it beside its numbers.
func (s Series) DataName() string {
	if s.Data != "" {
		return s.Data
	}
	return s.Name
}

// Drawn tells whether the i-th point can be drawn: its ends are numbers.
func (s Series) Drawn(i int) bool {
	return !math.IsNaN(s.X[i]) && !math.IsNaN(s.Y[i]) && !math.IsInf(s.X[i], 0) && !math.IsInf(s.Y[i], 0)
}

// Bars are groups of bars, each a stack of parts.
type Bars struct {
	Groups []string // below the axis
	Bars   []string // of a group; above the group's name if there are several parts
	Data   []string // names of Bars beside numbers; nil is Bars
	Parts  []string // of a bar, from the bottom; one if bars are plain
	Value  [][][]float64
	Half   [][]float64   // by group, bar: half width of the interval of the whole bar; nil: none
	Paper  [][][]float64 // as Value; nil: none
	Fill   []color.Color // by part, or by bar if there is one part
}

// DataName names the k-th bar of each group beside its numbers.
func (b *Bars) DataName(k int) string {
	if b.Data != nil {
		return b.Data[k]
	}
	return b.Bars[k]
}
