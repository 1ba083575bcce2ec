package plot

import "image/color"

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
	X, Y []float64
	Half []float64 // half widths of intervals around Y; nil: none
	Style
	// Hollow draws hollow marks and no line: values of the paper.
	Hollow bool
	// Every draws a mark at each Every-th point only, for curves; 0 is 1.
	Every int
}

// Bars are groups of bars, each a stack of parts.
type Bars struct {
	Groups []string // below the axis
	Bars   []string // of a group; above the group's name if there are several parts
	Parts  []string // of a bar, from the bottom; one if bars are plain
	Value  [][][]float64
	Half   [][]float64   // by group, bar: half width of the interval of the whole bar; nil: none
	Paper  [][][]float64 // as Value; nil: none
	Fill   []color.Color // by part, or by bar if there is one part
}
