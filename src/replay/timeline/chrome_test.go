package timeline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// traceEvent is what the Trace Event Format knows of the events that are written. Pointers
// tell what is there.
type traceEvent struct {
	Name  *string        `json:"name"`
	Cat   *string        `json:"cat"`
	Ph    string         `json:"ph"`
	TS    *float64       `json:"ts"`
	Dur   *float64       `json:"dur"`
	PID   *int           `json:"pid"`
	TID   *int           `json:"tid"`
	ID    *int           `json:"id"`
	Scope *string        `json:"s"`
	CName *string        `json:"cname"`
	Args  map[string]any `json:"args"`
}

type thread struct{ pid, tid int }

// traceFile is a file that is checked against the Trace Event Format.
type traceFile struct {
	t       *testing.T
	events  []traceEvent
	process map[int]string
	threads map[thread]string
}

func readChrome(t *testing.T, text []byte) *traceFile {
	t.Helper()
	var f struct {
		Unit   string       `json:"displayTimeUnit"`
		Events []traceEvent `json:"traceEvents"`
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		t.Fatal(err)
	}
	if f.Unit != "ms" && f.Unit != "ns" {
		t.Errorf("displayTimeUnit is %q: ms and ns are known", f.Unit)
	}
	return &traceFile{t, f.Events, map[int]string{}, map[thread]string{}}
}

// check checks everything: fields by phase, names of processes and threads, nesting of
// slices, pairs of asynchronous ones.
func (f *traceFile) check() {
	f.t.Helper()
	for i := range f.events {
		if err := f.fields(&f.events[i]); err != nil {
			f.t.Errorf("event %d: %v", i, err)
		}
	}
	for i, e := range f.events {
		if e.PID != nil && f.process[*e.PID] == "" {
			f.t.Errorf("event %d is of process %d, which has no name", i, *e.PID)
		}
		if (e.Ph == "X" || e.Ph == "i") && f.threads[thread{*e.PID, *e.TID}] == "" {
			f.t.Errorf("event %d is of thread %d, which has no name", i, *e.TID)
		}
	}
	f.nested()
	f.paired()
}

// colors of chrome://tracing that are used; one that it does not know stops it.
var colors = []string{"terrible", "bad", "good", "thread_state_iowait", "grey"}

func (f *traceFile) fields(e *traceEvent) error {
	if e.Name == nil || *e.Name == "" || e.PID == nil || e.TID == nil {
		return fmt.Errorf("%+v lacks a name, a process or a thread", e)
	}
	if e.Ph != "M" && (e.TS == nil || math.IsNaN(*e.TS) || e.Cat == nil) {
		return fmt.Errorf("%s %q lacks a time or a category", e.Ph, *e.Name)
	}
	if e.CName != nil && !slices.Contains(colors, *e.CName) {
		return fmt.Errorf("%q is no reserved colour", *e.CName)
	}
	switch e.Ph {
	case "M":
		return f.metadata(e)
	case "X":
		if e.Dur == nil || *e.Dur < 0 {
			return fmt.Errorf("%q has no duration, or less than none", *e.Name)
		}
	case "i":
		if e.Scope == nil || !slices.Contains([]string{"g", "p", "t"}, *e.Scope) {
			return fmt.Errorf("%q is an instant without scope", *e.Name)
		}
	case "b", "e":
		if e.ID == nil {
			return fmt.Errorf("%q is asynchronous without id", *e.Name)
		}
	default:
		return fmt.Errorf("phase %q is not one that is written", e.Ph)
	}
	return nil
}

func (f *traceFile) metadata(e *traceEvent) error {
	name, _ := e.Args["name"].(string)
	switch *e.Name {
	case "process_name":
		if f.process[*e.PID] != "" || name == "" {
			return fmt.Errorf("process %d is named %q after %q", *e.PID, name, f.process[*e.PID])
		}
		f.process[*e.PID] = name
	case "thread_name":
		at := thread{*e.PID, *e.TID}
		if f.threads[at] != "" || name == "" {
			return fmt.Errorf("thread %v is named %q after %q", at, name, f.threads[at])
		}
		f.threads[at] = name
	case "thread_sort_index":
		if _, ok := e.Args["sort_index"].(float64); !ok {
			return fmt.Errorf("sort_index is %v", e.Args["sort_index"])
		}
	default:
		return fmt.Errorf("metadata %q is not known", *e.Name)
	}
	return nil
}

// nested: the slices of a thread come in the order of their begin, and one lies inside the
// other or beside it. A viewer draws others wrongly, or not at all.
func (f *traceFile) nested() {
	const rounding = 0.002 // us: times are whole nanoseconds
	last := map[thread]float64{}
	open := map[thread][]float64{} // ends
	for _, e := range f.events {
		if e.Ph != "X" {
			continue
		}
		at, end := thread{*e.PID, *e.TID}, *e.TS
		if e.Dur != nil {
			end += *e.Dur
		}
		if before, ok := last[at]; ok && *e.TS < before {
			f.t.Errorf("%s of %s at %v comes after one at %v", *e.Name, f.threads[at], *e.TS, before)
		}
		last[at] = *e.TS
		stack := open[at]
		for len(stack) > 0 && stack[len(stack)-1] <= *e.TS+rounding {
			stack = stack[:len(stack)-1]
		}
		if n := len(stack); n > 0 && end > stack[n-1]+rounding {
			f.t.Errorf("%s of %s from %v to %v reaches out of what ends at %v", *e.Name, f.threads[at], *e.TS, end, stack[n-1])
		}
		open[at] = append(stack, end)
	}
}

// paired: each asynchronous slice begins and ends once, under one name, category, process
// and id, in that order.
func (f *traceFile) paired() {
	type key struct {
		pid, id   int
		cat, name string
	}
	begun, ended := map[key]float64{}, map[key]bool{}
	for _, e := range f.events {
		if e.Ph != "b" && e.Ph != "e" {
			continue
		}
		k := key{*e.PID, *e.ID, *e.Cat, *e.Name}
		from, known := begun[k]
		switch {
		case e.Ph == "b" && known, e.Ph == "e" && ended[k]:
			f.t.Errorf("%+v twice", k)
		case e.Ph == "e" && (!known || *e.TS < from):
			f.t.Errorf("%+v ends at %v before its begin", k, *e.TS)
		case e.Ph == "b":
			begun[k] = *e.TS
		default:
			ended[k] = true
		}
	}
	if len(begun) != len(ended) {
		f.t.Errorf("%d asynchronous slices begin, %d end", len(begun), len(ended))
	}
}

func chromeOf(t *testing.T, tracks []*Track) *traceFile {
	t.Helper()
	var out bytes.Buffer
	if err := WriteChrome(&out, tracks); err != nil {
		t.Fatal(err)
	}
	return readChrome(t, out.Bytes())
}

func TestChromeIsInTheTraceEventFormat(t *testing.T) {
	f := chromeOf(t, Tracks(burst(), time.Unix(1, 0)))
	f.check()
	if len(f.process) != 1 || len(f.threads) != 2 || f.process[1] != "worker w" {
		t.Errorf("%v, %v", f.process, f.threads)
	}
}

// Whatever happened to sandboxes, several workers and several requests at once in one of
// them included, the file keeps to the format.
func TestChromeOfAnything(t *testing.T) {
	for seed := range uint64(50) {
		f := chromeOf(t, Tracks(invented(rand.New(rand.NewPCG(seed, 1))), time.Unix(0, 0)))
		f.check()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// invented are lives of sandboxes on two workers.
func invented(r *rand.Rand) []Recorded {
	all := []Recorded{{Worker: "a"}, {Worker: "b"}}
	for i := range all {
		for box := range 5 {
			all[i].Events = append(all[i].Events, life1(r, fmt.Sprintf("s%d", box))...)
		}
		slices.SortStableFunc(all[i].Events, func(x, y api.Event) int { return cmp.Compare(x.At, y.At) })
	}
	return all
}

// life1 is that of one: a start, requests that may overlap, freezing, an end or none.
func life1(r *rand.Rand, name string) []api.Event {
	now := r.Int64N(1e9)
	var events []api.Event
	add := func(e api.Event) {
		now += 1 + r.Int64N(3e7)
		e.At, e.Sandbox, e.Function = now, name, "f"
		events = append(events, e)
	}
	add(api.Event{Kind: api.EventStart, MB: 100})
	if r.IntN(10) == 0 {
		add(api.Event{Kind: api.EventFailed})
		return events
	}
	add(api.Event{Kind: api.EventReady})
	running := 0
	for range r.IntN(30) {
		switch {
		case running < 3 && r.IntN(2) == 0:
			add(api.Event{Kind: api.EventRun, Start: []string{"cold", "delayed", "warm"}[r.IntN(3)], Wait: r.Int64N(2e8)})
			running++
		case running > 0:
			add(api.Event{Kind: api.EventDone})
			running--
		default:
			add(api.Event{Kind: api.EventFreeze})
			add(api.Event{Kind: api.EventThaw})
		}
	}
	if running == 0 && r.IntN(2) == 0 {
		add(api.Event{Kind: api.EventDestroy, Reason: []string{"pressure", "expired"}[r.IntN(2)]})
		add(api.Event{Kind: api.EventGone})
	}
	return events
}
