package repro

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/src/replay/timeline"
	"github.com/open-lambda/open-lambda/src/repro/plot"
)

// SandboxPanel is the tracks of one run.
type SandboxPanel struct {
	Title  string
	Tracks []*timeline.Track
}

// laneKinds are the states of a sandbox in the order of the legend. Their lightness
// differs, or hatching does.
func laneKinds() []plot.LaneKind {
	return []plot.LaneKind{
		{Name: "cold start in progress", Fill: color.RGBA{245, 222, 179, 255}, Hatch: true},
		{Name: "execution, cold", Fill: color.RGBA{150, 40, 27, 255}},
		{Name: "execution, delayed", Fill: color.RGBA{230, 159, 0, 255}},
		{Name: "execution, warm", Fill: color.RGBA{190, 232, 205, 255}},
		{Name: "idle", Fill: color.Gray{225}, Thin: true},
		{Name: "frozen", Fill: color.RGBA{190, 215, 235, 255}, Thin: true, Hatch: true},
		{Name: "being destroyed", Fill: color.Gray{60}, Thin: true},
	}
}

// laneKind is the index of a span's state.
func laneKind(what string) int {
	return slices.Index([]string{"start", "cold", "delayed", "warm", "idle", "frozen", "destroy"}, what)
}

// leastArrow is the shortest wait that is drawn: less is the work of sending.
const leastArrow = 2 * time.Millisecond

// runs tells whether a span is a request.
func runs(s timeline.Span) bool { return s.What == "cold" || s.What == "delayed" || s.What == "warm" }

// Within leaves out tracks and spans that have ended at from or begin at to; 0 is no
// end.
func Within(tracks []*timeline.Track, from, to time.Duration) []*timeline.Track {
	var kept []*timeline.Track
	for _, t := range tracks {
		part := *t
		part.Spans = nil
		for _, s := range t.Spans {
			if s.To > from && (to == 0 || s.From < to) {
				part.Spans = append(part.Spans, s)
			}
		}
		if len(part.Spans) > 0 {
			kept = append(kept, &part)
		}
	}
	return kept
}

// asked is a request of a run: the i-th span of a track.
type asked struct {
	at time.Duration // it came
	in *timeline.Track
	i  int
}

func (a asked) span() timeline.Span { return a.in.Spans[a.i] }

// requests lists those of tracks in the order in which they came.
func requests(tracks []*timeline.Track) []asked {
	var all []asked
	for _, t := range tracks {
		for i, s := range t.Spans {
			if runs(s) {
				all = append(all, asked{s.From - s.Wait, t, i})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b asked) int { return cmp.Compare(a.at, b.at) })
	return all
}

// SandboxChart draws a lane for each sandbox, as in the paper's Fig. 4: requests are
// numbered R0, R1, ... in the order in which they came, containers C0, C1, ... in
// that in which they appeared; arrows are waits. Times count from from, 0 ends with the last
// span.
func SandboxChart(title string, panels []SandboxPanel, from, to time.Duration) plot.Chart {
	end := to
	l := &plot.Lanes{Kinds: laneKinds()}
	for _, p := range panels {
		if to == 0 {
			end = max(end, timeline.End(p.Tracks))
		}
		l.Panels = append(l.Panels, lanePanel(p, from))
	}
	return plot.Chart{Title: title, X: plot.Axis{Label: "time (ms)", Min: 0, Max: inMS(max(end-from, time.Millisecond))}, Lanes: l}
}

func lanePanel(p SandboxPanel, from time.Duration) plot.LanePanel {
	out := plot.LanePanel{Title: p.Title}
	names := map[asked]string{}
	for i, r := range requests(p.Tracks) {
		r.at = 0
		names[r] = fmt.Sprintf("R%d", i)
	}
	for i, t := range p.Tracks {
		lane := plot.Lane{Name: fmt.Sprintf("C%d", i)}
		for k, s := range t.Spans {
			drawn := plot.LaneSpan{From: inMS(s.From - from), To: inMS(s.To - from), Kind: laneKind(s.What), Text: names[asked{0, t, k}]}
			if s.Wait >= leastArrow {
				drawn.Wait = inMS(s.Wait)
			}
			lane.Spans = append(lane.Spans, drawn)
		}
		out.Lanes = append(out.Lanes, lane)
	}
	return out
}

func inMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
