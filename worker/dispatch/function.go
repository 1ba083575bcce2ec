package dispatch

import (
	"io"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// Revision is one version of a function's code and configuration. It must
// not change once it is given to Define.
type Revision struct {
	Spec    sandbox.Spec  // template: ID is set for each sandbox
	Engine  policies.Spec // its Revision field is set by Define
	Runtime time.Duration // longest execution of one request; 0: no limit

	// Output, if set, makes the writer for what one sandbox prints. It is closed
	// when that is gone.
	Output func() io.WriteCloser

	// Retain and Release count the users of Spec.Dir: once for being the
	// current revision, and once for each sandbox. Retain is called with the
	// dispatcher's mutex held and must be short; Release is not.
	Retain, Release func()
}

// Func is a function that the dispatcher knows.
type Func struct {
	name string

	// Guarded by Dispatcher.mu.
	id       policies.FuncID     // NoFunc until the first Define: the engine's ids are dense
	current  *Revision           // nil: forgotten
	number   uint32              // of current
	startErr *sandbox.StartError // the last failed start
}

// Name returns the function's name.
func (f *Func) Name() string { return f.name }

// NewFunc returns a function for which nothing can run until it is defined.
func NewFunc(name string) *Func { return &Func{name: name, id: policies.NoFunc} }

// Define gives the function a revision: older sandboxes serve nobody new.
func (d *Dispatcher) Define(f *Func, r *Revision) {
	d.mu.Lock()
	if f.id == policies.NoFunc {
		d.admit(f)
	}
	d.replace(f, r)
	f.number++
	spec := r.Engine
	spec.Revision = f.number
	d.feed(engine.Event{Kind: engine.EvDefine, Fn: f.id, Spec: spec})
	d.leave()
	d.estimate(f, r)
}

// admit gives a function the id of a retired one of which nothing is left, else
// a new one. What the engine and its policies have observed of the former is
// taken for the new one's until enough is observed of that. mu is held.
func (d *Dispatcher) admit(f *Func) {
	for i, old := range d.retired {
		if !d.quiet(old) {
			continue
		}
		d.retired = slices.Delete(d.retired, i, i+1)
		f.id, f.number = old.id, old.number
		old.id = policies.NoFunc
		d.funcs[f.id] = f
		return
	}
	f.id = policies.FuncID(len(d.funcs))
	d.funcs = append(d.funcs, f)
}

// quiet tells whether a function has neither sandboxes nor requests. mu is held.
func (d *Dispatcher) quiet(f *Func) bool {
	return !slices.ContainsFunc(d.boxes, func(b *box) bool { return b != nil && b.fn == f }) &&
		!slices.ContainsFunc(d.calls.all, func(c *call) bool { return c.fn == f })
}

// Retire says that a forgotten function will not be defined again, so that its
// id may pass to another.
func (d *Dispatcher) Retire(f *Func) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f.id != policies.NoFunc && f.current == nil {
		d.retired = append(d.retired, f)
	}
}

// Forget takes the function out of service: waiting requests are refused,
// sandboxes destroyed as they come idle. It can be defined again.
func (d *Dispatcher) Forget(f *Func) {
	d.mu.Lock()
	if f.id == policies.NoFunc {
		d.mu.Unlock()
		return
	}
	d.replace(f, nil)
	d.feed(engine.Event{Kind: engine.EvForget, Fn: f.id})
	d.leave()
}

// replace changes the current revision. mu is held.
func (d *Dispatcher) replace(f *Func, r *Revision) {
	if d.closed {
		r = nil // nobody would release it
	}
	old := f.current
	f.current = r
	if r != nil && r.Retain != nil {
		r.Retain()
	}
	if old != nil && old.Release != nil {
		d.after = append(d.after, old.Release)
	}
}
