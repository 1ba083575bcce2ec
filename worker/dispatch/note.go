package dispatch

import (
	"time"

	"github.com/open-lambda/open-lambda/src/api"
)

// note tells readers of the event log what happened to the box. Never under
// Dispatcher.mu.
func (b *box) note(kind string) {
	if b.events.On() {
		b.events.Add(b.event(kind))
	}
}

func (b *box) event(kind string) api.Event {
	return api.Event{At: time.Now().UnixNano(), Kind: kind, Sandbox: b.spec.ID, Function: b.fn.name}
}

func (b *box) noteStart() {
	if b.events.On() {
		e := b.event(api.EventStart)
		e.MB = b.mb
		b.events.Add(e)
	}
}

// noteRun reports whether anybody was told.
func (b *box) noteRun(g *Grant) bool {
	if !b.events.On() {
		return false
	}
	e := b.event(api.EventRun)
	e.Start, e.Wait = g.Start.String(), int64(g.Queue)
	b.events.Add(e)
	return true
}

// noteDestroy is told after the box' context has ended: its reason is fixed.
func (b *box) noteDestroy() {
	if b.events.On() {
		e := b.event(api.EventDestroy)
		e.Reason = b.reason.String()
		b.events.Add(e)
	}
}
