package replay

import (
	"fmt"
	"time"
)

// Drift is how far the replayer itself fell behind the workload. A replay that
// drifts has not sent what it was meant to send, whatever it measured.
//
// Time is cut into windows of a second, or longer ones if a second has fewer
// than 100 requests on average. The drift of a window is the share of its
// requests that were sent after its end.
type Drift struct {
	Worst  float64       `json:"worst"` // of any window, 0 to 1
	At     time.Duration `json:"at_ns"` // when that window begins
	All    float64       `json:"all"`   // over all windows
	Window time.Duration `json:"window_ns"`
	Late   Distribution  `json:"late"` // of each request, from intended to sent
}

// Limits of Drift.Worst.
const (
	WarnDrift = 0.10
	MostDrift = 0.20
)

// DriftError ends a replay that has drifted more than MostDrift.
type DriftError struct{ Drift Drift }

// Error says how much and when.
func (e *DriftError) Error() string {
	return fmt.Sprintf("the replay fell behind: %.0f %% of the requests of the %.3g s from %.0f s on were sent later, at most %.0f %% are sound",
		100*e.Drift.Worst, e.Drift.Window.Seconds(), e.Drift.At.Seconds(), 100*MostDrift)
}

const (
	leastWindow   = time.Second
	windowRequest = 100 // requests of a window, on average
	leastCount    = 50  // a window with fewer is judged as if it had so many
)

// driftMeter is fed the requests in the order in which they are intended.
type driftMeter struct {
	Drift
	index      int64 // of the window
	n, late    int   // in the window
	sent, over int   // in all
}

func newDriftMeter(w Workload) *driftMeter {
	window := leastWindow
	if n := len(w.Requests); n > 0 {
		window = max(window, w.Span()*windowRequest/time.Duration(n))
	}
	return &driftMeter{Drift: Drift{Window: window}}
}

// add counts a request that was sent so late.
func (m *driftMeter) add(at, late time.Duration) {
	if i := int64(at / m.Window); i != m.index {
		m.close()
		m.index = i
	}
	m.n++
	m.sent++
	if at+late >= time.Duration(m.index+1)*m.Window {
		m.late++
		m.over++
	}
}

// close ends a window.
func (m *driftMeter) close() {
	if share := float64(m.late) / float64(max(m.n, leastCount)); share > m.Worst {
		m.Worst, m.At = share, time.Duration(m.index)*m.Window
	}
	m.n, m.late = 0, 0
}

// MeasureDrift looks at every request that was sent.
func MeasureDrift(w Workload, samples []Sample) Drift {
	m := newDriftMeter(w)
	var late []time.Duration
	for i := range samples {
		if s := &samples[i]; s.Sent() {
			m.add(s.Request.At, s.Late)
			late = append(late, s.Late)
		}
	}
	m.close()
	m.All = float64(m.over) / float64(max(m.sent, 1))
	m.Late = Describe(late)
	return m.Drift
}
