package dispatch

import (
	"context"
	"sync"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// Dispatcher drives the engine of one node.
type Dispatcher struct {
	cfg    Config
	life   context.Context // ends when everything shall stop
	cancel context.CancelFunc

	wg     sync.WaitGroup // sandboxes' goroutines, timer, freezer
	timer  *alarm
	freeze *freezer

	mu      sync.Mutex // a leaf: no other lock is taken under it
	funcs   []*Func    // by FuncID
	retired []*Func    // whose ids may pass to others
	calls   callTable
	boxes   []*box // by SandboxID; nil: no such sandbox
	spare   []engine.Action
	pending []engine.Event // answers to actions that the dispatcher itself knows
	after   []func()       // to be done once mu is released
	made    uint64         // sandboxes ever started
	usedMB  int64
	peakMB  int64
	closing bool          // no new requests
	closed  bool          // the engine is not asked any more
	drained chan struct{} // closed when closing and no call is left
}

// New starts a dispatcher. Close ends it.
func New(cfg Config) (*Dispatcher, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	d := &Dispatcher{cfg: cfg, drained: make(chan struct{})}
	d.life, d.cancel = context.WithCancel(context.Background())
	d.timer = newAlarm()
	d.freeze = newFreezer(cfg.Freeze)
	d.wg.Go(func() { d.timer.run(d.life, cfg.Now, func() { d.step(engine.Event{Kind: engine.EvTick}) }) })
	d.wg.Go(func() { d.freeze.run(d.life, d.cfg.Logger) })
	d.step(engine.Event{Kind: engine.EvTick})
	return d, nil
}

// step feeds one event and performs the actions.
func (d *Dispatcher) step(ev engine.Event) {
	d.mu.Lock()
	d.feed(ev)
	d.leave()
}

// leave releases mu and does what must not be done under it.
func (d *Dispatcher) leave() {
	after := d.after
	d.after = nil
	next, armed := policies.Never, false
	if !d.closed {
		next, armed = d.cfg.Engine.NextTimer()
	}
	d.mu.Unlock()
	if armed {
		d.timer.set(next)
	}
	for _, f := range after {
		f()
	}
}

// feed feeds one event, then those that its actions caused. mu is held.
func (d *Dispatcher) feed(ev engine.Event) {
	if d.closed {
		return
	}
	d.pending = append(d.pending, ev)
	for i := 0; i < len(d.pending); i++ {
		d.spare = d.cfg.Engine.Step(d.cfg.Now(), d.pending[i], d.spare[:0])
		for j := range d.spare {
			d.apply(&d.spare[j])
		}
	}
	d.pending = d.pending[:0]
}

// apply performs one action. mu is held.
func (d *Dispatcher) apply(a *engine.Action) {
	switch a.Kind {
	case engine.ActStart:
		d.start(a)
	case engine.ActRun:
		d.run(a)
	case engine.ActReject:
		d.reject(a)
	case engine.ActDestroy:
		d.destroy(a.Sandbox, a.Reason, false)
	case engine.ActReshape:
		d.pending = append(d.pending, refuse(a))
	}
}

func (d *Dispatcher) run(a *engine.Action) {
	c, b := d.calls.at(a.Req), d.box(a.Sandbox)
	if c == nil || b == nil {
		return
	}
	b.running.Add(1)
	b.uses++
	c.grant <- grant{box: b, start: a.Start, blocked: a.Blocked, wait: a.Wait}
}

func (d *Dispatcher) reject(a *engine.Action) {
	c := d.calls.at(a.Req)
	if c == nil {
		return
	}
	e := &RejectError{Reason: a.Reason}
	if a.Reason == engine.ReasonLambda || a.Reason == engine.ReasonHost {
		e.Start = c.fn.startErr
	}
	c.grant <- grant{err: e, wait: a.Wait}
}

// refuse answers the wish to reshape: no provider can change the form of a
// sandbox. One that was to be compressed stays as it is; one that was to become
// a layer is given up, so that the engine gets its memory back as it wished.
func refuse(a *engine.Action) engine.Event {
	if a.Form == policies.FormShrunk {
		return engine.Event{Kind: engine.EvReshaped, Sandbox: a.Sandbox, Form: policies.FormFull, MB: a.MB}
	}
	return engine.Event{Kind: engine.EvDied, Sandbox: a.Sandbox}
}
