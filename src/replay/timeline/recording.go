package timeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// recordingForm is what a file says that it is.
const recordingForm = "ol-sandboxes/1"

// Recording is what sandboxes did during a replay, kept for drawing. Times of events
// count from the begin of the replay.
type Recording struct {
	Form    string     `json:"form"`
	Trace   string     `json:"trace"`
	Policy  string     `json:"policy"`
	Scale   float64    `json:"scale"`   // of all times: 2 is half as fast
	Machine string     `json:"machine"` // what it ran on, for readers
	Load    float64    `json:"load"`    // mean load of the machine meanwhile
	Workers []Recorded `json:"workers"`
}

// Since returns what was read with times from begin on. Of events that are of no sandbox
// only those are kept that tell of a gap.
func Since(all []Recorded, begin time.Time) []Recorded {
	var out []Recorded
	for _, r := range all {
		kept := Recorded{Worker: r.Worker, Events: []api.Event{}}
		for _, e := range r.Events {
			if e.Sandbox != "" || e.Kind == api.EventLost {
				e.At -= begin.UnixNano()
				kept.Events = append(kept.Events, e)
			}
		}
		out = append(out, kept)
	}
	slices.SortFunc(out, func(x, y Recorded) int { return cmp.Compare(x.Worker, y.Worker) })
	return out
}

// Tracks makes a track for each sandbox.
func (r *Recording) Tracks() []*Track { return Tracks(r.Workers, time.Unix(0, 0)) }

// Write writes a recording.
func (r *Recording) Write(to io.Writer) error {
	r.Form = recordingForm
	enc := json.NewEncoder(to)
	enc.SetIndent("", " ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	return nil
}

// ReadRecording reads what Write wrote.
func ReadRecording(from io.Reader) (*Recording, error) {
	r := &Recording{}
	if err := json.NewDecoder(from).Decode(r); err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	if r.Form != recordingForm || r.Scale <= 0 {
		return nil, fmt.Errorf("read recording: its form is %q with a scale of %v, not %q with more than 0", r.Form, r.Scale, recordingForm)
	}
	return r, nil
}
