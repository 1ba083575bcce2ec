package timeline

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/open-lambda/open-lambda/src/api"
)

const ms = time.Millisecond

// burst is a sandbox that starts, serves a cold, a delayed and a warm request,
// is frozen in between, and is evicted; another cannot be made.
func burst() []Recorded {
	at := func(n int, kind, sandbox string) api.Event {
		return api.Event{At: int64(time.Second) + int64(n)*int64(ms), Kind: kind, Sandbox: sandbox, Function: "f"}
	}
	run := func(n int, start string, wait int) api.Event {
		e := at(n, api.EventRun, "s1")
		e.Start, e.Wait = start, int64(wait)*int64(ms)
		return e
	}
	evict := at(95, api.EventDestroy, "s1")
	evict.Reason = "pressure"
	return []Recorded{{Worker: "w", Events: []api.Event{
		at(0, api.EventStart, "s1"), at(20, api.EventReady, "s1"), run(20, "cold", 20), at(30, api.EventDone, "s1"),
		run(30, "delayed", 12), at(40, api.EventDone, "s1"), at(60, api.EventFreeze, "s1"), at(80, api.EventThaw, "s1"),
		at(50, api.EventStart, "s2"), // came late
		run(80, "warm", 0), at(90, api.EventDone, "s1"), evict, at(100, api.EventGone, "s1"), at(70, api.EventFailed, "s2"),
		{At: 1, Kind: api.EventLost},
	}}}
}

func TestTracks(t *testing.T) {
	got := Tracks(burst(), time.Unix(1, 0))
	want := []*Track{
		{Worker: "w", Sandbox: "s1", Function: "f", End: "pressure", Spans: []Span{
			{"start", 0, 20 * ms, 0},
			{"cold", 20 * ms, 30 * ms, 20 * ms},
			{"delayed", 30 * ms, 40 * ms, 12 * ms},
			{"idle", 40 * ms, 60 * ms, 0},
			{"frozen", 60 * ms, 80 * ms, 0},
			{"warm", 80 * ms, 90 * ms, 0},
			{"idle", 90 * ms, 95 * ms, 0},
			{"destroy", 95 * ms, 100 * ms, 0},
		}},
		{Worker: "w", Sandbox: "s2", Function: "f", Failed: true, Spans: []Span{{"start", 50 * ms, 70 * ms, 0}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What has not ended lasts to the last event, and what began before the first
// one is there from its first.
func TestTracksOfAPiece(t *testing.T) {
	all := burst()
	all[0].Events = all[0].Events[3:6] // done, delayed, done
	all[0].Events = append(all[0].Events, api.Event{At: int64(time.Second) + int64(45*ms), Kind: api.EventRun, Sandbox: "s3", Function: "g", Start: "warm"})
	got := Tracks(all, time.Unix(1, 0))
	if len(got) != 2 {
		t.Fatalf("%d tracks", len(got))
	}
	if diff := cmp.Diff([]Span{{"delayed", 30 * ms, 40 * ms, 12 * ms}, {"idle", 40 * ms, 45 * ms, 0}}, got[0].Spans); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Span{{"warm", 45 * ms, 45 * ms, 0}}, got[1].Spans); diff != "" {
		t.Error(diff)
	}
}

// event is one of a sandbox of function f, ms after a second.
func event(n int, kind, sandbox string) api.Event {
	return api.Event{At: int64(time.Second) + int64(n)*int64(ms), Kind: kind, Sandbox: sandbox, Function: "f", Start: map[bool]string{true: "warm"}[kind == api.EventRun]}
}

// A request ends with its sandbox at the latest; a worker that says so later ends no
// other one.
func TestRequestsEndWithTheirSandbox(t *testing.T) {
	for name, c := range map[string]struct {
		events []api.Event
		want   []Span
	}{
		"gone": {
			[]api.Event{event(0, api.EventRun, "s"), event(10, api.EventGone, "s"), event(15, api.EventDone, "s")},
			[]Span{{"warm", 0, 10 * ms, 0}},
		},
		"failed": {
			[]api.Event{event(0, api.EventRun, "s"), event(10, api.EventFailed, "s")},
			[]Span{{"warm", 0, 10 * ms, 0}},
		},
		"destroyed": {
			[]api.Event{event(0, api.EventRun, "s"), event(10, api.EventDestroy, "s"), event(12, api.EventDone, "s"), event(14, api.EventGone, "s")},
			[]Span{{"warm", 0, 10 * ms, 0}, {"destroy", 10 * ms, 14 * ms, 0}},
		},
	} {
		events := append(c.events, event(50, api.EventStart, "other"), event(60, api.EventReady, "other"))
		got := Tracks([]Recorded{{Worker: "w", Events: events}}, time.Unix(1, 0))
		if len(got) != 2 || got[1].Sandbox != "other" {
			t.Fatalf("%s: %d tracks", name, len(got))
		}
		if diff := cmp.Diff(c.want, got[0].Spans); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Of a gap it is not known what ended in it: the request before it lasts to the last
// event before it, and the end of the one after it is its own.
func TestGapsEndRequests(t *testing.T) {
	got := Tracks([]Recorded{
		{Worker: "w", Events: []api.Event{
			event(0, api.EventRun, "s"), event(10, api.EventFreeze, "idle"),
			{At: event(40, "", "").At, Kind: api.EventLost},
			event(40, api.EventRun, "s"), event(50, api.EventDone, "s"), event(60, api.EventDestroy, "s"),
		}},
		{Worker: "other", Events: []api.Event{event(0, api.EventRun, "s"), event(55, api.EventDone, "s")}},
	}, time.Unix(1, 0))
	if len(got) != 2 {
		t.Fatalf("%d tracks", len(got))
	}
	if diff := cmp.Diff([]Span{{"warm", 0, 10 * ms, 0}, {"warm", 40 * ms, 50 * ms, 0}, {"idle", 50 * ms, 60 * ms, 0}}, got[0].Spans); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Span{{"warm", 0, 55 * ms, 0}, {"idle", 55 * ms, 60 * ms, 0}}, got[1].Spans); diff != "" {
		t.Errorf("a worker that was read in time: %s", diff)
	}
}

// Gaps are kept with what is recorded.
func TestSinceKeepsGaps(t *testing.T) {
	kept := Since(burst(), time.Unix(1, 0))
	if Lost(kept) != 1 || Lost(burst()) != 1 || len(kept[0].Events) != len(burst()[0].Events) {
		t.Errorf("%+v", kept)
	}
}

// A request that only began takes no time, and says so.
func TestChromeHasDurations(t *testing.T) {
	var out strings.Builder
	if err := WriteChrome(&out, Tracks([]Recorded{{Events: []api.Event{event(0, api.EventStart, "s"), event(5, api.EventReady, "s"), event(5, api.EventRun, "s")}}}, time.Unix(1, 0))); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, `"name":"warm","cat":"sandbox","ph":"X","ts":5000,"dur":0,`) || strings.Count(text, `"dur"`) != 2 {
		t.Error(text)
	}
}

// A track that ended before the time that is looked at is left out.
func TestTracksLeaveOutThePast(t *testing.T) {
	got := Tracks(burst(), time.Unix(1, int64(75*ms)))
	if len(got) != 1 || got[0].Sandbox != "s1" || got[0].Spans[0].From != -75*ms || End(got) != 25*ms {
		t.Errorf("%+v", got)
	}
}

func TestWriteText(t *testing.T) {
	var out strings.Builder
	if err := WriteText(&out, Tracks(burst(), time.Unix(1, 0)), 0, 100*ms, 20); err != nil {
		t.Fatal(err)
	}
	want := "w f s1 |....CCDD----~~~~WW-x|\nw f s2 |          ....      |\n"
	if got := out.String(); !strings.HasPrefix(got, want) || !strings.Contains(got, Legend+"; a column is 5ms") {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestWriteChrome(t *testing.T) {
	var out strings.Builder
	if err := WriteChrome(&out, Tracks(burst(), time.Unix(1, 0))); err != nil {
		t.Fatal(err)
	}
	var got struct {
		TraceEvents []struct {
			Name, Ph string
			TS, Dur  float64
			PID, TID int
		}
	}
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range got.TraceEvents {
		seen[e.Ph+" "+e.Name] = true
		if e.Name == "delayed" && (e.TS != 30000 || e.Dur != 10000 || e.PID != 1 || e.TID != 1) {
			t.Errorf("%+v", e)
		}
	}
	for _, want := range []string{"M process_name", "M thread_name", "X start", "X cold", "X delayed", "X warm", "X frozen", "i evicted", "b f waits, delayed", "e f waits, cold"} {
		if !seen[want] {
			t.Errorf("lacks %q", want)
		}
	}
}
