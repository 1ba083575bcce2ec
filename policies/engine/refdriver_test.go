package engine_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// machine is the engine or the reference; both name sandboxes by order of
// creation.
type machine interface {
	step(policies.Time, engine.Event) []engine.Action
	nextTimer() (policies.Time, bool)
}

// named is the engine with its reused ids replaced by names.
type named struct {
	e    *engine.Engine
	t    testing.TB
	name map[policies.SandboxID]policies.SandboxID // id -> name, of those not gone
	id   []policies.SandboxID                      // name -> id
}

func (n *named) step(now policies.Time, ev engine.Event) []engine.Action {
	if byName := ev.Sandbox; ev.Kind >= engine.EvFinished && ev.Kind <= engine.EvReshaped {
		ev.Sandbox = n.id[byName]
	}
	out := n.e.Step(now, ev, nil)
	for i := range out {
		switch a := &out[i]; a.Kind {
		case engine.ActStart:
			n.name[a.Sandbox] = policies.SandboxID(len(n.id))
			n.id = append(n.id, a.Sandbox)
			fallthrough
		case engine.ActRun, engine.ActDestroy:
			a.Sandbox = n.name[a.Sandbox]
		case engine.ActReshape, engine.ActReject:
		}
	}
	if err := n.e.Check(); err != nil {
		n.t.Fatalf("after %+v at %d: %v", ev, now, err)
	}
	return out
}

func (n *named) nextTimer() (policies.Time, bool) { return n.e.NextTimer() }

// run feeds the workload to a machine until nothing is left, and returns the
// actions, one a line.
func (w *workload) run(m machine) []string {
	d := &driver{w: w, m: m, plan: slices.Clone(w.script), dead: map[policies.SandboxID]bool{}, running: map[policies.RequestID]policies.SandboxID{}}
	for i, s := range w.fns {
		d.step(engine.Event{Kind: engine.EvDefine, Fn: policies.FuncID(i), Spec: s})
	}
	for d.next() {
	}
	return d.log
}

type driver struct {
	w       *workload
	m       machine
	now     policies.Time
	plan    []planned
	seq     int
	log     []string
	dead    map[policies.SandboxID]bool // destroyed, or died
	running map[policies.RequestID]policies.SandboxID
}

func (d *driver) push(after time.Duration, ev engine.Event) {
	d.seq++
	p := planned{at: d.now.Add(after), seq: len(d.w.script) + d.seq, ev: ev}
	i, _ := slices.BinarySearchFunc(d.plan, p, func(a, b planned) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq))
	})
	d.plan = slices.Insert(d.plan, i, p)
}

// next feeds what comes next; false at the end, which is when no event is
// planned: timers that remain are keep-alives.
func (d *driver) next() bool {
	t, timer := d.m.nextTimer()
	switch {
	case len(d.plan) > 0 && (!timer || d.plan[0].at <= t):
		p := d.plan[0]
		d.plan = d.plan[1:]
		d.now = max(d.now, p.at)
		if d.valid(p.ev) {
			d.step(p.ev)
		}
		return true
	case timer && len(d.log) < 5000:
		d.now = max(d.now, t)
		d.step(engine.Event{Kind: engine.EvTick})
		return true
	}
	return false
}

// valid drops what did not come to pass: a start that was cancelled does not
// become ready, a request that was lost does not finish.
func (d *driver) valid(ev engine.Event) bool {
	switch ev.Kind {
	case engine.EvReady, engine.EvFailed, engine.EvDied:
		return !d.dead[ev.Sandbox]
	case engine.EvFinished, engine.EvReturned:
		on, ok := d.running[ev.Req]
		return ok && on == ev.Sandbox
	default:
		return true
	}
}

func (d *driver) step(ev engine.Event) {
	switch ev.Kind {
	case engine.EvFinished, engine.EvReturned:
		delete(d.running, ev.Req)
	case engine.EvDied:
		d.dead[ev.Sandbox] = true
		d.loseAll(ev.Sandbox)
	default:
	}
	for _, a := range d.m.step(d.now, ev) {
		d.perform(&a)
	}
}

// loseAll ends the requests in a sandbox that died: some were never sent.
func (d *driver) loseAll(box policies.SandboxID) {
	var lost []policies.RequestID
	for r, b := range d.running {
		if b == box {
			lost = append(lost, r)
		}
	}
	slices.Sort(lost)
	for _, r := range lost {
		kind := engine.EvReturned
		if d.w.dice(diceEnd, int(r), 2) == 0 {
			kind = engine.EvFinished
		}
		d.push(0, engine.Event{Kind: kind, Req: r, Sandbox: box, Dur: d.w.exec[r]})
	}
}

func (d *driver) perform(a *engine.Action) {
	d.log = append(d.log, fmt.Sprintf("%12v %s", d.now.Sub(0), describe(a)))
	w := d.w
	switch n := int(a.Sandbox); a.Kind {
	case engine.ActStart:
		ev := engine.Event{Kind: engine.EvReady, Sandbox: a.Sandbox}
		if w.faults {
			switch w.dice(diceFail, n, 6) {
			case 0:
				ev.Kind = engine.EvFailed
			case 1:
				ev.Kind, ev.Fault = engine.EvFailed, engine.FaultLambda
			}
		}
		d.push(time.Duration(10*w.dice(diceCold, n, 50))*ms, ev)
	case engine.ActRun:
		d.running[a.Req] = a.Sandbox
		ok := !w.faults || w.dice(diceEnd, int(a.Req), 8) != 0
		d.push(w.exec[a.Req], engine.Event{Kind: engine.EvFinished, Req: a.Req, Sandbox: a.Sandbox, Dur: w.exec[a.Req], OK: ok})
		if w.faults && w.dice(diceDie, n, 10) == 0 {
			d.push(w.exec[a.Req]/2, engine.Event{Kind: engine.EvDied, Sandbox: a.Sandbox})
		}
	case engine.ActDestroy:
		d.dead[a.Sandbox] = true
		d.push(w.gone, engine.Event{Kind: engine.EvGone, Sandbox: a.Sandbox})
	case engine.ActReshape, engine.ActReject:
	}
}

func describe(a *engine.Action) string {
	switch a.Kind {
	case engine.ActStart:
		return fmt.Sprintf("start s%d f%d rev %d %d MB", a.Sandbox, a.Fn, a.Revision, a.MB)
	case engine.ActRun:
		return fmt.Sprintf("run r%d f%d s%d rev %d %v blocked %v wait %v", a.Req, a.Fn, a.Sandbox, a.Revision, a.Start, a.Blocked, a.Wait)
	case engine.ActDestroy:
		return fmt.Sprintf("destroy s%d f%d reason %d", a.Sandbox, a.Fn, a.Reason)
	case engine.ActReject:
		return fmt.Sprintf("reject r%d f%d reason %d wait %v", a.Req, a.Fn, a.Reason, a.Wait)
	default:
		return fmt.Sprintf("%+v", *a)
	}
}

// newEngine makes the engine of a workload.
func (w *workload) newEngine(t testing.TB) *named {
	t.Helper()
	p, err := catalog.New("", w.cfg.scaler, w.cfg.victim, catalog.Params{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(engine.Config{
		PoolMB: w.cfg.pool, StartSlots: w.cfg.slots, StarveMin: w.cfg.starve, QueueLimit: w.cfg.queue,
		Scaler: p.Scaler, Evictor: p.Evictor,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &named{e: e, t: t, name: map[policies.SandboxID]policies.SandboxID{}}
}
