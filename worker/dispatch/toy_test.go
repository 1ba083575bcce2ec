package dispatch

import (
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// toy is the smallest engine that keeps the contract of policies/engine: one
// start for each request that finds nobody, FIFO, sandboxes idle for ever.
type toy struct {
	limit  int // waiting requests of a function
	max    int // sandboxes in all
	tick   policies.Time
	ticks  int
	fns    map[policies.FuncID]*toyFn
	boxes  map[policies.SandboxID]*toyBox
	where  map[policies.RequestID]policies.FuncID
	nextID policies.SandboxID
}

type toyFn struct {
	defined  bool
	spec     policies.Spec
	waiting  []toyReq
	starting int
}

type toyReq struct {
	id policies.RequestID
	at policies.Time
}

type toyBox struct {
	fn           policies.FuncID
	rev          uint32
	ready, fresh bool
	busy         int
	dead, doomed bool
}

func newToy() *toy {
	return &toy{
		limit: 1 << 30, max: 1 << 30,
		fns: map[policies.FuncID]*toyFn{}, boxes: map[policies.SandboxID]*toyBox{},
		where: map[policies.RequestID]policies.FuncID{},
	}
}

func (e *toy) NextTimer() (policies.Time, bool) { return e.tick, e.tick != 0 }

func (e *toy) Step(now policies.Time, ev engine.Event, out []engine.Action) []engine.Action {
	if e.tick != 0 && now >= e.tick {
		e.tick = 0
		e.ticks++
	}
	b := e.boxes[ev.Sandbox]
	switch ev.Kind {
	case engine.EvDefine:
		e.fns[ev.Fn] = &toyFn{defined: true, spec: ev.Spec}
		out = e.retire(ev.Fn, out)
	case engine.EvForget:
		f := e.fns[ev.Fn]
		f.defined = false
		for _, r := range f.waiting {
			out = append(out, engine.Action{Kind: engine.ActReject, Req: r.id, Reason: engine.ReasonForgotten})
		}
		f.waiting = nil
		out = e.retire(ev.Fn, out)
	case engine.EvArrive:
		out = e.arrive(now, ev, out)
	case engine.EvCancel:
		f := e.fns[e.where[ev.Req]]
		for i, r := range f.waiting {
			if r.id == ev.Req {
				f.waiting = append(f.waiting[:i:i], f.waiting[i+1:]...)
				break
			}
		}
	case engine.EvReady:
		e.fns[b.fn].starting--
		b.ready, b.fresh = true, true
		out = e.serve(now, b.fn, out)
	case engine.EvFailed:
		f := e.fns[b.fn]
		f.starting--
		delete(e.boxes, ev.Sandbox)
		for _, r := range f.waiting {
			out = append(out, engine.Action{Kind: engine.ActReject, Req: r.id, Reason: engine.ReasonLambda})
		}
		f.waiting = nil
	case engine.EvFinished, engine.EvReturned:
		b.busy--
		fn := b.fn
		if ev.Kind == engine.EvReturned {
			b.dead = true
			f := e.fns[fn]
			f.waiting = append([]toyReq{{ev.Req, now}}, f.waiting...)
			out = e.want(fn, out)
		}
		b.dead = b.dead || (ev.Kind == engine.EvFinished && !ev.OK) || b.rev != e.fns[fn].spec.Revision || !e.fns[fn].defined
		out = e.sweep(out)
		out = e.serve(now, fn, out)
	case engine.EvDied:
		b.dead = true
		out = e.sweep(out)
	case engine.EvGone:
		if !b.ready {
			e.fns[b.fn].starting--
		}
		delete(e.boxes, ev.Sandbox)
	}
	return out
}

func (e *toy) arrive(now policies.Time, ev engine.Event, out []engine.Action) []engine.Action {
	f := e.fns[ev.Fn]
	e.where[ev.Req] = ev.Fn
	if len(f.waiting) >= f.cap(e.limit) {
		return append(out, engine.Action{Kind: engine.ActReject, Req: ev.Req, Reason: engine.ReasonQueueFull})
	}
	f.waiting = append(f.waiting, toyReq{ev.Req, now})
	if out2 := e.serve(now, ev.Fn, out); len(out2) > len(out) {
		return out2
	}
	return e.want(ev.Fn, out)
}

func (f *toyFn) cap(n int) int { return n }

func (e *toy) want(fn policies.FuncID, out []engine.Action) []engine.Action {
	f := e.fns[fn]
	if f.starting >= len(f.waiting) || len(e.boxes) >= e.max {
		return out
	}
	f.starting++
	id := e.nextID
	e.nextID++
	e.boxes[id] = &toyBox{fn: fn, rev: f.spec.Revision}
	return append(out, engine.Action{Kind: engine.ActStart, Fn: fn, Sandbox: id, From: policies.NoSandbox, Revision: f.spec.Revision, MB: f.spec.MB})
}

// serve gives waiting requests to free sandboxes.
func (e *toy) serve(now policies.Time, fn policies.FuncID, out []engine.Action) []engine.Action {
	f := e.fns[fn]
	for id := range e.nextID {
		b := e.boxes[id]
		if b == nil || b.fn != fn || !b.ready || b.dead || b.doomed || b.rev != f.spec.Revision {
			continue
		}
		for b.busy < max(f.spec.Slots, 1) && len(f.waiting) > 0 {
			r := f.waiting[0]
			f.waiting = f.waiting[1:]
			kind := policies.Warm
			if r.at != now {
				kind = policies.Delayed
			}
			if b.fresh {
				kind = policies.Cold
			}
			b.fresh = false
			b.busy++
			out = append(out, engine.Action{Kind: engine.ActRun, Req: r.id, Sandbox: id, Start: kind, Wait: now.Sub(r.at)})
		}
	}
	return out
}

// retire gives up sandboxes of older revisions.
func (e *toy) retire(fn policies.FuncID, out []engine.Action) []engine.Action {
	for id := range e.nextID {
		if b := e.boxes[id]; b != nil && b.fn == fn && b.ready {
			b.dead = true
		}
	}
	return e.sweep(out)
}

func (e *toy) sweep(out []engine.Action) []engine.Action {
	for id := range e.nextID {
		if b := e.boxes[id]; b != nil && b.dead && !b.doomed && b.busy == 0 {
			b.doomed = true
			out = append(out, engine.Action{Kind: engine.ActDestroy, Sandbox: id, Reason: engine.ReasonUnusable})
		}
	}
	return out
}

func (e *toy) alarmAt(d time.Duration) { e.tick = policies.Time(d) }
