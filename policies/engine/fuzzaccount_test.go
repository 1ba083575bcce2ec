package engine

import (
	"fmt"
	"reflect"

	"github.com/open-lambda/open-lambda/policies"
)

// nonsense feeds what no correct driver would: it must change nothing.
func (z *fuzz) nonsense(arg int) {
	z.step(Event{Kind: EvTick})
	ev := Event{
		Kind: EventKind(arg % 16), Fn: policies.FuncID(z.byte() - 100), Req: policies.RequestID(z.byte() - 100),
		Sandbox: policies.SandboxID(z.byte() - 100), MB: int64(-z.byte()),
	}
	if z.sensible(&ev) {
		return
	}
	before := z.e.Snapshot()
	if out := z.e.Step(z.now, ev, nil); len(out) > 0 {
		z.t.Fatalf("%+v, which means nothing, led to %+v", ev, out)
	}
	z.e.bad = nil
	if after := z.e.Snapshot(); !reflect.DeepEqual(before, after) {
		z.t.Fatalf("%+v, which means nothing, changed\n%+v\nto\n%+v", ev, before, after)
	}
	z.check(ev)
}

// sensible reports whether an event means something after all.
func (z *fuzz) sensible(ev *Event) bool {
	known := ev.Fn >= 0 && int(ev.Fn) < len(z.e.funcs)
	b := z.boxes[ev.Sandbox]
	switch ev.Kind {
	case EvDefine:
		return false // without memory
	case EvForget, EvEstimate:
		return known
	case EvArrive:
		return known && ev.Req >= 0 && (int(ev.Req) >= len(z.reqs) || !z.busy(ev.Req))
	case EvCancel:
		return ev.Req >= 0 && int(ev.Req) < len(z.reqs) && z.reqs[ev.Req].waiting
	case EvFinished, EvReturned:
		return ev.Req >= 0 && int(ev.Req) < len(z.reqs) && z.reqs[ev.Req].box == ev.Sandbox && b != nil
	case EvReady, EvFailed:
		return b != nil && b.state == policies.Provisioning
	case EvDied:
		return b != nil && b.state == policies.Idle
	case EvGone:
		return b != nil && b.state == policies.Dying
	case EvReshaped:
		return b != nil && b.state == policies.Idle && b.running == 0
	case EvResize, EvTick:
		return false
	}
	return false
}

func (z *fuzz) busy(id policies.RequestID) bool {
	return z.reqs[id].waiting || z.reqs[id].box != policies.NoSandbox
}

func (z *fuzz) step(ev Event) {
	for _, a := range z.e.Step(z.now, ev, nil) {
		z.perform(&a)
	}
	z.check(ev)
}

func (z *fuzz) perform(a *Action) {
	fail := func(why string) { z.t.Fatalf("%s: %+v", why, *a) }
	b := z.boxes[a.Sandbox]
	switch a.Kind {
	case ActStart:
		if b != nil {
			fail("the id is in use")
		}
		if a.From != policies.NoSandbox {
			if from := z.boxes[a.From]; from == nil || from.state != policies.Idle || from.running > 0 {
				fail("there is nothing to start from")
			}
			z.bury(a.From)
		}
		z.boxes[a.Sandbox] = &fuzzBox{mb: a.MB, state: policies.Provisioning}
		z.order = append(z.order, a.Sandbox)
		if used := z.used(); used > z.pool {
			fail(fmt.Sprintf("%d MB used of %d", used, z.pool))
		}
	case ActRun:
		r := &z.reqs[a.Req]
		if !r.waiting {
			fail("the request does not wait")
		}
		if b == nil || b.state != policies.Idle || b.died || b.demoted {
			fail("the sandbox does not serve")
		}
		r.waiting, r.box = false, a.Sandbox
		b.running++
		z.ran++
	case ActDestroy:
		if b == nil || b.state == policies.Dying || b.running > 0 {
			fail("the sandbox is busy or ending")
		}
		b.state = policies.Dying
	case ActReject:
		r := &z.reqs[a.Req]
		if !r.waiting {
			fail("the request does not wait")
		}
		r.waiting = false
		z.refused++
	case ActReshape:
		if b == nil || b.state != policies.Idle || b.running > 0 {
			fail("the sandbox is not idle")
		}
		b.demoted, b.owed = true, true
	}
}

func (z *fuzz) used() (mb int64) {
	for _, b := range z.boxes {
		mb += b.mb
	}
	return mb
}

func (z *fuzz) waiting() (n int) {
	for i := range z.reqs {
		if z.reqs[i].waiting {
			n++
		}
	}
	return n
}

// check compares the engine's account with the driver's.
func (z *fuzz) check(ev Event) {
	if err := z.e.Check(); err != nil {
		z.t.Fatalf("after %+v: %v", ev, err)
	}
	waiting := 0
	for _, f := range z.e.funcs {
		waiting += f.Waiting
	}
	if w := z.waiting(); w != waiting || z.arrived != z.ran+z.refused+z.dropped+w {
		z.t.Fatalf("after %+v: %d arrived = %d ran + %d refused + %d dropped + %d waiting, engine says %d wait",
			ev, z.arrived, z.ran, z.refused, z.dropped, w, waiting)
	}
	if free := z.e.node.FreeMB; free != z.pool-z.used() {
		z.t.Fatalf("after %+v: %d MB free, but %d of %d used", ev, free, z.used(), z.pool)
	}
}

// quiesce does all that a driver owes, until nobody waits.
func (z *fuzz) quiesce() {
	owed := func() bool {
		for _, b := range z.boxes {
			if b.state != policies.Idle || b.running > 0 || b.owed {
				return true
			}
		}
		return false
	}
	for range 20 * (len(z.reqs) + 10) {
		if z.waiting() == 0 && !owed() {
			break
		}
		z.end(0, true, false)
		z.begun(0, true)
		z.confirm(0)
		z.reshaped(0)
		if t, ok := z.e.NextTimer(); ok && !owed() {
			z.now = max(z.now, t)
		}
		z.step(Event{Kind: EvTick})
	}
	if n := z.waiting(); n > 0 {
		z.t.Fatalf("%d requests wait for ever: %+v", n, z.e.Snapshot())
	}
	for i, n := range z.told {
		if n != 1 {
			z.t.Fatalf("outcome %d of %d was told %d times", i, len(z.told), n)
		}
	}
}
