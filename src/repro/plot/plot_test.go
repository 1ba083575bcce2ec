package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

func sample() Chart {
	ch := Chart{
		Title: "sample", X: Axis{Label: "memory (GB)"}, Y: Axis{Label: "overhead (%)"},
		Series: []Series{
			{Name: "ours", X: []float64{80, 100, 120}, Y: []float64{40, 30, 20}, Half: []float64{1, 0, 2}, Style: StyleOf(0)},
			{X: []float64{80, 100, 120}, Y: []float64{41, math.NaN(), 22}, Style: StyleOf(0), Hollow: true},
		},
	}
	for i := range 9 {
		ch.Series = append(ch.Series, Series{Name: strings.Repeat("n", i+3), X: []float64{80, 120}, Y: []float64{float64(i), 9}, Style: StyleOf(i + 1)})
	}
	return ch
}

func stacked() Chart {
	return Chart{Title: "bars", Y: Axis{Label: "requests (%)", Min: 0, Max: 100}, Bars: &Bars{
		Groups: []string{"80", "100"}, Bars: []string{"F", "C"}, Parts: []string{"cold", "warm"}, Fill: Fills(2),
		Value: [][][]float64{{{70, 30}, {20, 80}}, {{60, 40}, {math.NaN(), 100}}},
		Paper: [][][]float64{{{71, 29}, {22, 78}}, {{61, 39}, {math.NaN(), math.NaN()}}},
	}}
}

// Both formats come out whole, alike each time, and without what is no number.
func TestWritesAreWholeAndAlike(t *testing.T) {
	for _, ch := range []Chart{sample(), stacked()} {
		var svg, again, img bytes.Buffer
		for _, w := range []*bytes.Buffer{&svg, &again} {
			if err := WriteSVG(w, ch); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(svg.Bytes(), again.Bytes()) {
			t.Errorf("%s: two drawings differ", ch.Title)
		}
		dec := xml.NewDecoder(&again)
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", ch.Title, err)
			}
		}
		for _, want := range []string{ch.Title, ch.Y.Label, "hollow: the paper", "Liberation Sans,Arial"} {
			if !strings.Contains(svg.String(), want) {
				t.Errorf("%s: no %q", ch.Title, want)
			}
		}
		if strings.Contains(svg.String(), "NaN") {
			t.Errorf("%s: NaN is drawn", ch.Title)
		}
		if err := WritePNG(&img, ch); err != nil {
			t.Fatal(err)
		}
		p, err := png.Decode(&img)
		if err != nil || p.Bounds().Dx() != 940 {
			t.Errorf("%s: %v, %v", ch.Title, p.Bounds(), err)
		}
	}
}

// A series whose ends do not match is an error.
func TestUnevenSeries(t *testing.T) {
	if err := WriteSVG(io.Discard, Chart{Series: []Series{{X: []float64{1}, Style: StyleOf(0)}}}); err == nil {
		t.Error("no error")
	}
}

// The legend makes room for itself: the more entries, the higher the picture.
func TestLegendTakesItsOwnRoom(t *testing.T) {
	few, many := Chart{Series: sample().Series[:1]}, sample()
	l := newLegend(&many)
	if l.columns < 2 || l.rows()*l.columns < len(l.names) {
		t.Errorf("%d names in %d x %d", len(l.names), l.rows(), l.columns)
	}
	if many.height()-few.height() < vg.Length(l.rows()-1)*rowHeight {
		t.Errorf("heights %v and %v", few.height(), many.height())
	}
	if l.column*vg.Length(l.columns) > width {
		t.Errorf("columns of %v do not fit", l.column)
	}
}

// Any two of the styles that a figure uses differ in grey too: in mark or dash.
func TestStylesDifferWithoutColour(t *testing.T) {
	same := func(a, b Style) bool { return a.Mark == b.Mark && slices.Equal(a.Dash, b.Dash) }
	for i := range 16 {
		for k := range i {
			if same(StyleOf(i), StyleOf(k)) {
				t.Errorf("styles %d and %d are alike in grey", k, i)
			}
		}
	}
}

func TestNiceTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{0, 100, "0 20 40 60 80 100"},
		{-3, 41, "0 10 20 30 40"},
		{0.95, 1, "0.95 0.96 0.97 0.98 0.99 1.00"},
		{7, 7, "7"},
	} {
		var got []string
		for _, tick := range niceTicks(c.low, c.high) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v to %v: %v, want %s", c.low, c.high, got, c.want)
		}
	}
}

// A title that is too long for the chart is written smaller, others are not.
func TestTitlesFit(t *testing.T) {
	for title, want := range map[string]bool{"overhead ratio (%)": true, strings.Repeat("waiting for a busy sandbox ", 4): false} {
		size := titleSize(title)
		if full := size == 11; full != want || textStyle(size).Width(title) > width {
			t.Errorf("%q: %v points, %v wide in %v", title, size, textStyle(size).Width(title), width)
		}
	}
}
