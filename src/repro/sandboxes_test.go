package repro

import (
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/replay/timeline"
)

const ms = time.Millisecond

func tracks() []*timeline.Track {
	return []*timeline.Track{
		{Sandbox: "s1", Spans: []timeline.Span{
			{What: "start", From: 0, To: 30 * ms},
			{What: "cold", From: 30 * ms, To: 40 * ms, Wait: 30 * ms},
			{What: "delayed", From: 40 * ms, To: 50 * ms, Wait: 15 * ms},
		}},
		{Sandbox: "s2", Spans: []timeline.Span{{What: "warm", From: 20 * ms, To: 60 * ms, Wait: 100 * time.Microsecond}}},
	}
}

// Requests are numbered as they came, not as they ran; a wait that is only the work of
// sending is not drawn.
func TestSandboxChart(t *testing.T) {
	ch := SandboxChart("t", []SandboxPanel{{"one", tracks()}}, 10*ms, 0)
	lanes := ch.Lanes.Panels[0].Lanes
	got := ""
	for _, l := range lanes {
		for _, s := range l.Spans {
			got += " " + l.Name + ":" + s.Text + "," + ch.Lanes.Kinds[s.Kind].Name
		}
	}
	want := " C0:,cold start in progress C0:R0,execution, cold C0:R2,execution, delayed C1:R1,execution, warm"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if s := lanes[0].Spans[2]; s.From != 30 || s.To != 40 || s.Wait != 15 || lanes[1].Spans[0].Wait != 0 || ch.X.Max != 50 {
		t.Errorf("%+v, %+v, end %v", s, lanes[1].Spans[0], ch.X.Max)
	}
}

func TestWithin(t *testing.T) {
	all := tracks()
	kept := Within(all, 0, 20*ms)
	if len(kept) != 1 || len(kept[0].Spans) != 1 || len(all[0].Spans) != 3 {
		t.Errorf("%+v", kept)
	}
	if kept = Within(all, 50*ms, 0); len(kept) != 1 || kept[0].Sandbox != "s2" {
		t.Errorf("%+v", kept)
	}
}

// Every state that a track can be in is drawn.
func TestEveryStateHasALook(t *testing.T) {
	for _, what := range []string{"start", "cold", "delayed", "warm", "idle", "frozen", "destroy"} {
		if laneKind(what) < 0 {
			t.Errorf("%s has none", what)
		}
	}
}

// The recordings are of the burst, and the simulator decides what the workers did.
func TestBurstOnRealSandboxesAndSimulated(t *testing.T) {
	for _, c := range fig4Policies() {
		b, err := openBurst(c.policy)
		if err != nil {
			t.Fatal(err)
		}
		kinds := func(all []*timeline.Track) string {
			var words []string
			for _, a := range requests(all) {
				words = append(words, a.span().What)
			}
			return strings.Join(words, " ")
		}
		want := map[string]string{"cidre": "warm delayed delayed delayed", "lru": "warm cold cold cold"}[c.policy]
		if real, simulated := kinds(b.real), kinds(b.simulated); real != want || simulated != want || b.kept.Policy != c.policy {
			t.Errorf("%s: real %q, simulated %q, want %q", c.policy, real, simulated, want)
		}
	}
}
