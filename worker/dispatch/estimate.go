package dispatch

import (
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// estimate tells the engine what a start of the function would take now, if
// the provider can say: which zygotes there are changes with every start. mu is
// not held.
func (d *Dispatcher) estimate(f *Func, r *Revision) {
	teller, ok := d.cfg.Provider.(sandbox.Estimator)
	if !ok {
		return
	}
	took, ok := teller.Estimate(r.Spec)
	if !ok {
		return
	}
	d.mu.Lock()
	defer d.leave()
	if f.current == r {
		d.feed(engine.Event{Kind: engine.EvEstimate, Fn: f.id, Dur: took})
	}
}
