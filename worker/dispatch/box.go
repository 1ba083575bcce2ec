package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/pause"
	"github.com/open-lambda/open-lambda/worker/events"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// state is where a box is in its life.
type state uint8

const (
	provisioning state = iota
	ready
	dying
	gone
)

// box is one sandbox from the start that the engine wished to its end.
type box struct {
	id    policies.SandboxID
	spec  sandbox.Spec
	fn    *Func
	rev   *Revision
	mb    int64
	born  time.Time
	heir  *box            // the idle sandbox that this start uses up
	ctx   context.Context // of its making; ends when it shall go
	stop  context.CancelFunc
	over  chan struct{} // closed when it is gone
	sb    sandbox.Sandbox
	info  sandbox.Info
	sleep sleep

	events *events.Log

	running atomic.Int32 // requests that were given to it and have not ended

	// Guarded by Dispatcher.mu.
	state  state
	silent bool // used up by another start: the engine expects no EvGone
	reason engine.Reason
	uses   int64
}

// box finds a sandbox by the engine's id. mu is held.
func (d *Dispatcher) box(id policies.SandboxID) *box {
	if id < 0 || int(id) >= len(d.boxes) {
		return nil
	}
	return d.boxes[id]
}

// start performs ActStart. mu is held.
func (d *Dispatcher) start(a *engine.Action) {
	f := d.funcs[a.Fn]
	if f.current == nil {
		// Forgotten in the same step; the engine gives the start up itself.
		d.pending = append(d.pending, engine.Event{Kind: engine.EvFailed, Sandbox: a.Sandbox})
		return
	}
	heir := d.box(a.From)
	if heir != nil {
		d.destroy(a.From, engine.ReasonNone, true)
	}
	d.made++
	ctx, stop := context.WithCancel(context.Background())
	b := &box{
		id: a.Sandbox, fn: f, rev: f.current, spec: f.current.Spec, mb: a.MB, born: time.Now(),
		heir: heir, events: d.cfg.Events, ctx: ctx, stop: stop, over: make(chan struct{}),
	}
	b.spec.ID = fmt.Sprintf("%s%d", d.cfg.Prefix, d.made)
	if b.rev.Retain != nil {
		b.rev.Retain()
	}
	for int(a.Sandbox) >= len(d.boxes) {
		d.boxes = append(d.boxes, nil)
	}
	d.boxes[a.Sandbox] = b
	d.charge(a.MB)
	d.wg.Go(func() { d.live(b) })
}

// charge adds to the memory in use. mu is held.
func (d *Dispatcher) charge(mb int64) {
	d.usedMB += mb
	d.peakMB = max(d.peakMB, d.usedMB)
}

// destroy performs ActDestroy: the box' goroutine does the work. mu is held.
func (d *Dispatcher) destroy(id policies.SandboxID, why engine.Reason, silent bool) {
	b := d.box(id)
	if b == nil || b.state == dying || b.state == gone {
		return
	}
	b.state, b.silent, b.reason = dying, silent, why
	if silent {
		d.boxes[id] = nil
		d.usedMB -= b.mb
	}
	d.after = append(d.after, b.stop)
}

// exited tells whether the runtime inside has ended by itself.
func (b *box) exited() bool {
	select {
	case <-b.info.Exited:
		return true
	default:
		return false
	}
}

// live is the goroutine of one box.
func (d *Dispatcher) live(b *box) {
	defer close(b.over)
	defer b.stop()
	if b.heir != nil {
		<-b.heir.over
	}
	if b.rev.Output != nil {
		out := b.rev.Output()
		defer out.Close() // what it wrote is written
		b.spec.Output = out
	}
	b.noteStart()
	err := d.create(b)
	if err == nil {
		d.watch(b)
		d.remove(b)
	}
	if b.rev.Release != nil {
		b.rev.Release()
	}
	d.bury(b, err)
}

// create makes the sandbox, unless it is doomed first.
func (d *Dispatcher) create(b *box) error {
	sb, err := d.cfg.Provider.Create(b.ctx, b.spec)
	took := time.Since(b.born)
	if err != nil {
		b.note(api.EventFailed)
		if b.ctx.Err() == nil {
			d.cfg.Observer.Created(b.fn.name, "", took, err)
		}
		return err
	}
	info := sb.Info()
	d.cfg.Observer.Created(b.fn.name, info.Origin, took, nil)
	b.note(api.EventReady)
	d.mu.Lock()
	b.sb, b.info = sb, info
	if b.state == provisioning {
		b.state = ready
		d.feed(engine.Event{Kind: engine.EvReady, Sandbox: b.id, Dur: took})
	}
	d.leave()
	d.rest(b)
	d.estimate(b.fn, b.rev)
	return nil
}

// watch waits until the sandbox shall go, and reports it if it died.
func (d *Dispatcher) watch(b *box) {
	select {
	case <-b.ctx.Done():
		return
	case <-b.info.Exited:
	}
	d.mu.Lock()
	if b.state == ready {
		d.feed(engine.Event{Kind: engine.EvDied, Sandbox: b.id})
	}
	d.leave()
	<-b.ctx.Done()
}

// remove destroys the sandbox. It tries until the mechanism says that it is
// gone: its memory stays charged so long.
func (d *Dispatcher) remove(b *box) {
	begun := time.Now()
	b.noteDestroy()
	b.sleep.retire()
	for {
		err := d.destroyOnce(b)
		if err == nil {
			break
		}
		d.cfg.Logger.LogAttrs(context.Background(), slog.LevelError, "destroy sandbox",
			slog.String("sandbox", b.spec.ID), slog.Any("error", err))
		if !pause.For(d.life, time.Second) {
			return // Provider.Close has the last word
		}
	}
	b.note(api.EventGone)
	d.cfg.Observer.Destroyed(b.fn.name, b.reason, time.Since(begun))
}

func (d *Dispatcher) destroyOnce(b *box) error {
	ctx, cancel := context.WithTimeout(context.Background(), d.cfg.Destroy)
	defer cancel()
	return b.sb.Destroy(ctx)
}

// bury reports the end of the box to the engine.
func (d *Dispatcher) bury(b *box, err error) {
	d.mu.Lock()
	defer d.leave()
	doomed := b.state == dying
	b.state = gone
	if b.silent {
		return
	}
	if d.boxes[b.id] == b {
		d.boxes[b.id] = nil
	}
	d.usedMB -= b.mb
	if doomed {
		d.feed(engine.Event{Kind: engine.EvGone, Sandbox: b.id})
		return
	}
	se := &sandbox.StartError{Reason: "the sandbox could not be made", Err: err}
	errors.As(err, &se)
	b.fn.startErr = se
	fault := engine.FaultHost
	if se.Lambda {
		fault = engine.FaultLambda
	}
	d.feed(engine.Event{Kind: engine.EvFailed, Sandbox: b.id, Fault: fault})
}
