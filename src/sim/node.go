package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/trace"
)

// node is one engine and the mechanism that it commands.
type node struct {
	id       int32
	e        *engine.Engine
	view     policies.View
	shape    policies.Shaper // what demoted sandboxes keep; nil if none is ever demoted
	boxes    []box           // by SandboxID
	out      []engine.Action
	inFlight int           // requests that arrived here and have not ended
	timer    policies.Time // when EvTick is due, Never if it is not

	usedMB, idleMB int64 // as counted in run
}

// box is a sandbox as the mechanism knows it.
type box struct {
	gen   uint32 // counts destroys and starts, so that void events are known
	fn    policies.FuncID
	form  policies.Form
	mb    int64 // of the full sandbox
	cold  time.Duration
	live  bool // started and not destroyed
	ready bool
	used  bool
}

func newNode(id int, c *Config, oracle policies.Oracle) (*node, error) {
	p, err := c.Policy(oracle)
	if err != nil {
		return nil, fmt.Errorf("make policy: %w", err)
	}
	e, err := engine.New(engine.Config{
		PoolMB: c.PoolMB, StartSlots: c.StartSlots, StarveMin: c.StarveMin, QueueLimit: c.QueueLimit, DropFull: c.DropFull,
		Scaler: p.Scaler, Evictor: p.Evictor, Picker: p.Picker, Prewarmer: p.Prewarmer,
	})
	if err != nil {
		return nil, err
	}
	shape, _ := p.Evictor.(policies.Shaper)
	return &node{id: int32(id), e: e, view: e.View(), shape: shape}, nil
}

func (n *node) box(id policies.SandboxID) *box {
	for int(id) >= len(n.boxes) {
		n.boxes = append(n.boxes, box{})
	}
	return &n.boxes[id]
}

// step feeds an event and performs what the engine answers.
func (r *run) step(n *node, ev *engine.Event) {
	if r.cfg.Event != nil {
		r.cfg.Event(r.now, int(n.id), ev)
	}
	n.out = n.e.Step(r.now, *ev, n.out[:0])
	for i := range n.out {
		a := &n.out[i]
		r.hash.action(r.now, n.id, a)
		if r.cfg.Watch != nil {
			r.cfg.Watch(r.now, int(n.id), a)
		}
		r.perform(n, a)
	}
	n.timer, _ = n.e.NextTimer()
	v := n.view.Node()
	used := v.PoolMB - v.FreeMB
	r.m.usedMB += used - n.usedMB
	r.m.idleMB += v.IdleMB - n.idleMB
	n.usedMB, n.idleMB = used, v.IdleMB
	r.m.peakMB = max(r.m.peakMB, r.m.usedMB)
}

func (r *run) perform(n *node, a *engine.Action) {
	switch a.Kind {
	case engine.ActStart:
		r.start(n, a)
	case engine.ActRun:
		r.serve(n, a)
	case engine.ActReshape:
		b := n.box(a.Sandbox)
		b.form = a.Form
		r.plan(event{kind: evReshape, node: n.id, sandbox: a.Sandbox, gen: b.gen}, 0)
	case engine.ActDestroy:
		r.destroy(n, a)
	case engine.ActReject:
		r.reject(n, a)
	}
}

// plan adds an event after a delay.
func (r *run) plan(e event, after time.Duration) {
	e.at = r.now.Add(after)
	r.events.push(e)
}

func (r *run) start(n *node, a *engine.Action) {
	cold := r.coldStart(&r.functions[a.Fn])
	if r.cfg.MinReady && r.arrivals == 0 {
		cold = 0
	}
	if a.From != policies.NoSandbox {
		from := n.box(a.From)
		if n.shape != nil {
			cold = n.shape.ColdFrom(a.MB, cold, from.form)
		}
		from.live = false
		from.gen++
		r.m.reused++
	}
	b := n.box(a.Sandbox)
	*b = box{gen: b.gen + 1, fn: a.Fn, mb: a.MB, cold: cold, live: true}
	r.m.starts++
	e := event{kind: evReady, node: n.id, sandbox: a.Sandbox, gen: b.gen}
	if f := &r.cfg.Faults; f.StartHost+f.StartLambda > 0 {
		switch u := r.random.Float64(); {
		case u < f.StartHost:
			e.kind, cold = evFailHost, cold/2
		case u < f.StartHost+f.StartLambda:
			e.kind, cold = evFailLambda, cold/2
		}
	}
	r.plan(e, cold)
}

// coldStart draws the time of a start from nothing.
func (r *run) coldStart(p *trace.Profile) time.Duration {
	if p.ColdSigma == 0 {
		return p.Cold
	}
	return time.Duration(float64(p.Cold) * math.Exp(p.ColdSigma*r.random.NormFloat64()))
}

func (r *run) serve(n *node, a *engine.Action) {
	q := &r.requests[a.Req]
	b := n.box(a.Sandbox)
	b.used = true
	q.sandbox, q.kind, q.blocked, q.wait = a.Sandbox, a.Start, a.Blocked, a.Wait
	e := event{kind: evFinish, node: n.id, sandbox: a.Sandbox, req: a.Req, gen: b.gen}
	exec := q.exec
	if p := r.cfg.Faults.Die; p > 0 && r.random.Float64() < p {
		e.kind, exec = evCrash, exec/2
	}
	r.plan(e, exec)
}

func (r *run) destroy(n *node, a *engine.Action) {
	b := n.box(a.Sandbox)
	r.m.gone(b, a.Reason)
	b.live = false
	b.gen++
	d := r.cfg.Destroy
	if p := r.cfg.Faults.SlowDestroy; p > 0 && r.random.Float64() < p {
		d += r.cfg.Faults.SlowBy
	}
	r.plan(event{kind: evGone, node: n.id, sandbox: a.Sandbox, gen: b.gen}, d)
}

// happen feeds what was planned, unless its sandbox is a former one.
func (r *run) happen(e *event) {
	n := r.nodes[e.node]
	b := &n.boxes[e.sandbox]
	if e.gen != b.gen {
		return
	}
	r.ev = engine.Event{Sandbox: e.sandbox}
	ev := &r.ev
	switch e.kind {
	case evReady:
		b.ready = true
		ev.Kind, ev.Dur = engine.EvReady, b.cold
	case evFailHost, evFailLambda:
		b.live = false
		r.m.failed++
		ev.Kind, ev.Fault = engine.EvFailed, engine.FaultHost
		if e.kind == evFailLambda {
			ev.Fault = engine.FaultLambda
		}
	case evFinish, evCrash:
		q := &r.requests[e.req]
		ev.Kind, ev.Req, ev.Dur, ev.OK = engine.EvFinished, e.req, q.exec, e.kind == evFinish
		if e.kind == evCrash {
			r.step(n, &engine.Event{Kind: engine.EvDied, Sandbox: e.sandbox})
			r.m.died++
			ev.Dur = q.exec / 2
		}
		r.finish(n, e.req)
	case evGone:
		ev.Kind = engine.EvGone
	case evReshape:
		ev.Kind, ev.Form, ev.MB = engine.EvReshaped, b.form, b.mb
		if n.shape != nil {
			ev.MB = n.shape.HeldMB(b.mb, b.form)
		}
	}
	r.step(n, ev)
}
