package plot

import (
	"bytes"
	"image/color"
	"io"
	"strings"
	"testing"
)

func lanes() Chart {
	return Chart{Title: "lanes", X: Axis{Label: "time (ms)", Max: 100}, Lanes: &Lanes{
		Kinds: []LaneKind{{Name: "busy", Fill: color.Black}, {Name: "made", Fill: color.White, Hatch: true}, {Name: "idle", Fill: color.Gray{200}, Thin: true}},
		Panels: []LanePanel{
			{"one", []Lane{{"C0", []LaneSpan{{0, 40, 1, "", 0}, {40, 60, 0, "R0", 40}, {60, 200, 0, "R1", 50}}}, {"C1", []LaneSpan{{-20, 5, 2, "", 0}}}}},
			{"two", []Lane{{"C0", []LaneSpan{{10, 10.5, 0, "too long for it", 0}}}}},
		},
	}}
}

func TestLanesAreWhole(t *testing.T) {
	ch := lanes()
	var svg, img bytes.Buffer
	if err := WriteSVG(&svg, ch); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"lanes", "one", "two", ">C0<", ">C1<", ">R0<", ">R1<", "time (ms)", "a request waits", "made"} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(svg.String(), "too long") {
		t.Error("a text is drawn that has no room")
	}
	if err := WritePNG(&img, ch); err != nil {
		t.Fatal(err)
	}
	less := ch
	less.Lanes = &Lanes{Kinds: ch.Lanes.Kinds, Panels: ch.Lanes.Panels[:1]}
	if ch.height() != less.height()+panelTop+laneHigh {
		t.Errorf("%v and %v: a lane takes its room", ch.height(), less.height())
	}
}

func TestLanesRefuse(t *testing.T) {
	for name, spoil := range map[string]func(*Chart){
		"no time":          func(ch *Chart) { ch.X.Max = 0 },
		"unknown kind":     func(ch *Chart) { ch.Lanes.Panels[0].Lanes[0].Spans[0].Kind = 3 },
		"ends before":      func(ch *Chart) { ch.Lanes.Panels[0].Lanes[0].Spans[0].To = -1 },
		"kind not decided": func(ch *Chart) { ch.Lanes.Panels[0].Lanes[0].Spans[0].Kind = -1 },
	} {
		ch := lanes()
		spoil(&ch)
		if err := WriteSVG(io.Discard, ch); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Arrows that would cover each other stand above each other.
func TestArrowsDoNotCoverEachOther(t *testing.T) {
	first, second, third := LaneSpan{From: 40, Wait: 40}, LaneSpan{From: 60, Wait: 50}, LaneSpan{From: 90, Wait: 10}
	if got := []int{level(nil, first), level([]LaneSpan{first}, second), level([]LaneSpan{first, second}, third)}; got[0] != 0 || got[1] != 1 || got[2] != 0 {
		t.Errorf("levels %v", got)
	}
}
