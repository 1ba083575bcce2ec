package timeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// Span is a stretch of a sandbox' life.
type Span struct {
	What     string // start, warm, delayed, cold (a request of that kind), idle, frozen, destroy
	From, To time.Duration
	Wait     time.Duration // of a request before From
}

// Track is one sandbox. Spans are in order of From; requests may overlap where a
// sandbox serves several at once.
type Track struct {
	Worker, Sandbox, Function string
	MB                        int64
	Spans                     []Span
	End                       string // why it was destroyed: pressure, expired, ...; "" if it was not
	Failed                    bool   // it could not be made
}

// Recorded is what was read from one worker.
type Recorded struct {
	Worker string      `json:"worker"`
	Events []api.Event `json:"events"`
}

// Tracks makes a track for each sandbox, in the order in which they appeared,
// but for those that were gone before begin, from which times count.
func Tracks(all []Recorded, begin time.Time) []*Track {
	b := builder{begin: begin.UnixNano(), heard: map[string]time.Duration{}, open: map[key]*life{}}
	var events []placed
	for _, r := range all {
		for _, e := range r.Events {
			if e.Sandbox != "" || e.Kind == api.EventLost {
				events = append(events, placed{r.Worker, e})
			}
		}
	}
	slices.SortStableFunc(events, func(x, y placed) int { return cmp.Compare(x.At, y.At) })
	for i := range events {
		b.take(&events[i])
	}
	for _, l := range b.lives {
		l.close(b.last)
	}
	var tracks []*Track
	for _, l := range b.lives {
		slices.SortStableFunc(l.Spans, func(x, y Span) int { return cmp.Compare(x.From, y.From) })
		if n := len(l.Spans); n > 0 && l.Spans[n-1].To > 0 {
			tracks = append(tracks, &l.Track)
		}
	}
	return tracks
}

// Lost is how many gaps there are in what was read.
func Lost(all []Recorded) int {
	n := 0
	for _, r := range all {
		for _, e := range r.Events {
			if e.Kind == api.EventLost {
				n++
			}
		}
	}
	return n
}

// End is when the last of the tracks ends.
func End(tracks []*Track) time.Duration {
	var end time.Duration
	for _, t := range tracks {
		end = max(end, t.Spans[len(t.Spans)-1].To)
	}
	return end
}

type placed struct {
	worker string
	api.Event
}

type key struct{ worker, sandbox string }

// life is a track under construction.
type life struct {
	Track
	state    string // that it is in while no request runs: start, idle, frozen, destroy; "" none
	since    time.Duration
	requests []Span // that run
}

type builder struct {
	begin int64
	last  time.Duration
	heard map[string]time.Duration // last event of each worker
	open  map[key]*life
	lives []*life
}

func (b *builder) take(e *placed) {
	at := time.Duration(e.At - b.begin)
	b.last = max(b.last, at)
	if e.Kind == api.EventLost {
		b.lose(e.worker)
		return
	}
	b.heard[e.worker] = at
	k := key{e.worker, e.Sandbox}
	l := b.open[k]
	if l == nil {
		l = &life{Track: Track{Worker: e.worker, Sandbox: e.Sandbox, Function: e.Function}}
		b.open[k] = l
		b.lives = append(b.lives, l)
	}
	l.take(&e.Event, at)
	if e.Kind == api.EventGone || e.Kind == api.EventFailed {
		delete(b.open, k)
	}
}

// lose forgets what the sandboxes of a worker were doing: what came before a gap lasts to
// the last event before it, and what it has become only their next events tell.
func (b *builder) lose(worker string) {
	for k, l := range b.open {
		if k.worker == worker {
			l.close(b.heard[worker])
		}
	}
}

func (l *life) take(e *api.Event, at time.Duration) {
	switch e.Kind {
	case api.EventStart:
		l.MB = e.MB
		l.enter("start", at)
	case api.EventReady, api.EventThaw:
		l.enter("idle", at)
	case api.EventFreeze:
		l.enter("frozen", at)
	case api.EventRun:
		l.enter("", at)
		l.requests = append(l.requests, Span{What: e.Start, From: at, Wait: time.Duration(e.Wait)})
	case api.EventDone:
		l.done(at)
	case api.EventDestroy:
		l.close(at) // no request outlives it, whenever the worker comes to say so
		l.End = e.Reason
		l.enter("destroy", at)
	case api.EventFailed:
		l.Failed = true
		l.close(at)
	case api.EventGone:
		l.close(at)
	}
}

// done ends the request that has run for longest: a sandbox that serves
// several does not say which.
func (l *life) done(at time.Duration) {
	if len(l.requests) == 0 {
		return
	}
	s := l.requests[0]
	l.requests = l.requests[1:]
	s.To = at
	l.Spans = append(l.Spans, s)
	if len(l.requests) == 0 && l.state == "" {
		l.enter("idle", at)
	}
}

// enter ends one state and begins another.
func (l *life) enter(state string, at time.Duration) {
	if l.state != "" && at > l.since {
		l.Spans = append(l.Spans, Span{What: l.state, From: l.since, To: at})
	}
	l.state, l.since = state, at
}

// close ends everything that has not.
func (l *life) close(at time.Duration) {
	for len(l.requests) > 0 {
		l.done(at)
	}
	l.enter("", at)
}
