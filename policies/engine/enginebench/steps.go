package enginebench

import (
	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// Step is one Step of the engine on its hottest path: in turn the end of a
// request and the arrival of another, which starts warm.
func (f *Fleet) Step() {
	slot, ends := policies.RequestID(f.steps/2%inFlight), f.steps%2 == 0
	f.steps++
	if !ends {
		f.next++
		f.arrive(policies.FuncID(f.next*mixed%uint64(f.funcs)), slot)
		return
	}
	if u := &f.flight[slot]; u.runs {
		u.runs = false
		f.feed(engine.Event{Kind: engine.EvFinished, Req: slot, Sandbox: u.on, Dur: exec, OK: true})
	}
}

// arrive expects a warm start.
func (f *Fleet) arrive(fn policies.FuncID, id policies.RequestID) {
	a := f.only("arrive", engine.ActRun, engine.Event{Kind: engine.EvArrive, Fn: fn, Req: id})
	f.flight[id] = use{on: a.Sandbox, runs: true}
}

// only feeds an event that must lead to one action, of the given kind.
func (f *Fleet) only(doing string, kind engine.ActionKind, ev engine.Event) engine.Action {
	out := f.feed(ev)
	if len(out) == 1 && out[0].Kind == kind {
		return out[0]
	}
	f.fail(doing, out)
	return engine.Action{Sandbox: policies.NoSandbox}
}

// Evict is one eviction decision: the Step of an arrival that needs a start
// for which an idle sandbox has to go.
func (f *Fleet) Evict() {
	f.out = f.e.Step(f.now, engine.Event{Kind: engine.EvArrive, Fn: f.rival, Req: rivalReq}, f.out[:0])
}

// Restore brings the fleet back to its size after an Evict, and uses the
// sandbox that replaces the victim.
func (f *Fleet) Restore() {
	if len(f.out) != 1 || f.out[0].Kind != engine.ActDestroy || f.out[0].Reason != engine.ReasonPressure {
		f.fail("evict", f.out)
		return
	}
	victim := f.out[0]
	a := f.only("evict", engine.ActStart, engine.Event{Kind: engine.EvGone, Sandbox: victim.Sandbox})
	f.only("start", engine.ActRun, engine.Event{Kind: engine.EvReady, Sandbox: a.Sandbox, Dur: beat})
	f.only("run", engine.ActDestroy, engine.Event{Kind: engine.EvFinished, Req: rivalReq, Sandbox: a.Sandbox, Dur: exec, OK: true})
	f.feed(engine.Event{Kind: engine.EvGone, Sandbox: a.Sandbox})
	f.refill.wants = append(f.refill.wants, policies.Want{Fn: victim.Fn, N: f.each, MayEvict: true})
	f.fill()
	f.arrive(victim.Fn, againReq)
	f.feed(engine.Event{Kind: engine.EvFinished, Req: againReq, Sandbox: f.flight[againReq].on, Dur: exec, OK: true})
}
