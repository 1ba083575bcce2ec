package timeline

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// chromeEvent is an event of the Trace Event Format, which chrome://tracing and
// ui.perfetto.dev read. Times are microseconds.
type chromeEvent struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Phase string         `json:"ph"` // X complete, i instant, b and e asynchronous, C counter, M metadata
	TS    float64        `json:"ts"`
	Dur   *float64       `json:"dur,omitempty"` // of X, which must have one, be it 0
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	ID    int            `json:"id,omitempty"`
	Scope string         `json:"s,omitempty"` // of an instant: t is its thread
	Color string         `json:"cname,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// colors are names that chrome://tracing knows; Perfetto chooses its own.
func color(what string) string {
	switch what {
	case "cold":
		return "terrible"
	case "delayed":
		return "bad"
	case "warm":
		return "good"
	case "start":
		return "thread_state_iowait"
	case "frozen":
		return "grey"
	}
	return ""
}

// WriteChrome writes tracks in the Trace Event Format: a process for each
// worker, a thread for each sandbox, and an asynchronous slice for each request
// that waited.
func WriteChrome(to io.Writer, tracks []*Track) error {
	w := &chromeWriter{out: bufio.NewWriter(to), workers: map[string]int{}}
	w.text(`{"displayTimeUnit":"ms","traceEvents":[`)
	for _, t := range tracks {
		w.track(t)
	}
	w.text("\n]}\n")
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err != nil {
		return fmt.Errorf("write trace: %w", w.err)
	}
	return nil
}

type chromeWriter struct {
	out     *bufio.Writer
	workers map[string]int // process of each
	any     bool
	threads int // so far
	waits   int
	err     error
}

func (w *chromeWriter) text(s string) {
	if w.err == nil {
		_, w.err = w.out.WriteString(s)
	}
}

func (w *chromeWriter) add(e chromeEvent) {
	b, err := json.Marshal(&e)
	if err != nil && w.err == nil {
		w.err = err
	}
	if w.any {
		w.text(",")
	}
	w.any = true
	w.text("\n" + string(b))
}

// process returns the number of a worker, which it names the first time.
func (w *chromeWriter) process(name string) int {
	if id, ok := w.workers[name]; ok {
		return id
	}
	id := len(w.workers) + 1
	w.workers[name] = id
	w.add(chromeEvent{Name: "process_name", Phase: "M", PID: id, Args: map[string]any{"name": "worker " + name}})
	return id
}

// lanes tells in which lane each span of a track stands: slices of a thread must lie one
// inside the other or beside it, so requests that a sandbox serves at the same time
// have lanes of their own.
func lanes(t *Track) (of []int, n int) {
	var free []time.Duration // when each lane is free
	for _, s := range t.Spans {
		at := slices.IndexFunc(free, func(end time.Duration) bool { return end <= s.From })
		if at < 0 {
			at, free = len(free), append(free, 0)
		}
		free[at] = s.To
		of = append(of, at)
	}
	return of, max(1, len(free))
}

// thread names a lane of a track.
func (w *chromeWriter) thread(pid, lane int, t *Track) {
	w.threads++
	name := t.Function + " " + t.Sandbox
	if lane > 0 {
		name = fmt.Sprintf("%s (%d)", name, lane+1)
	}
	w.add(chromeEvent{Name: "thread_name", Phase: "M", PID: pid, TID: w.threads, Args: map[string]any{"name": name}})
	w.add(chromeEvent{Name: "thread_sort_index", Phase: "M", PID: pid, TID: w.threads, Args: map[string]any{"sort_index": w.threads}})
}

func (w *chromeWriter) track(t *Track) {
	pid := w.process(t.Worker)
	first := w.threads + 1
	lane, n := lanes(t)
	for i := range n {
		w.thread(pid, i, t)
	}
	for i, s := range t.Spans {
		took := micros(s.To - s.From)
		w.add(chromeEvent{
			Name: s.What, Cat: "sandbox", Phase: "X", TS: micros(s.From), Dur: &took, PID: pid, TID: first + lane[i],
			Color: color(s.What), Args: args(t, s),
		})
		if s.Wait > 0 && (s.What == "cold" || s.What == "delayed") {
			w.waits++
			wait := chromeEvent{Name: t.Function + " waits, " + s.What, Cat: "wait", PID: pid, ID: w.waits}
			wait.Phase, wait.TS = "b", micros(s.From-s.Wait)
			w.add(wait)
			wait.Phase, wait.TS = "e", micros(s.From)
			w.add(wait)
		}
	}
	if n := len(t.Spans); t.End != "" && n > 0 {
		name := "destroyed: " + t.End
		if t.End == "pressure" {
			name = "evicted"
		}
		at := t.Spans[n-1].From
		w.add(chromeEvent{Name: name, Cat: "sandbox", Phase: "i", TS: micros(at), PID: pid, TID: first, Scope: "t"})
	}
}

func args(t *Track, s Span) map[string]any {
	a := map[string]any{"function": t.Function, "sandbox": t.Sandbox}
	if t.MB > 0 {
		a["mb"] = t.MB
	}
	if s.Wait > 0 {
		a["waited_ms"] = float64(s.Wait) / float64(time.Millisecond)
	}
	return a
}
