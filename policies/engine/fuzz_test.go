package engine

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
)

// FuzzStep feeds valid and invalid events, as the bytes say, to an engine with
// any preset, and holds the package's invariants against its own account of
// requests, sandboxes, memory and outcomes. Whatever the bytes did, everybody
// who waits is answered once the driver does its part.
func FuzzStep(f *testing.F) {
	for _, seed := range fuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1024 {
			return // long enough to find anything, short enough to read
		}
		z := newFuzz(t, data)
		for len(z.data) > 0 {
			z.op()
		}
		z.quiesce()
	})
}

// fuzzSeeds are runs of mostly arrivals and progress, one for each preset.
func fuzzSeeds() [][]byte {
	var seeds [][]byte
	for i := range 2 * len(catalog.Names("")) {
		parts := byte(2 + i/len(catalog.Names(""))*12) // the second half with a prewarmer and demotions
		s := []byte{byte(i), 40, byte(i % 3), 0, byte(i % 2), parts, 10, 0, 0, 0, 20, 1, byte(i), 3, 5, 2, 1, 1}
		x := uint32(i + 1)
		for range 300 {
			x = x*1664525 + 1013904223
			s = append(s, byte(x>>24), byte(x>>16))
		}
		seeds = append(seeds, s)
	}
	return seeds
}

type fuzz struct {
	t    *testing.T
	data []byte
	e    *Engine
	now  policies.Time
	pool int64

	reqs    []fuzzReq // by RequestID
	boxes   map[policies.SandboxID]*fuzzBox
	order   []policies.SandboxID // of boxes, by start
	told    []int                // by outcome: how often it was told
	arrived int
	ran     int // requests given to a sandbox, less those returned
	refused int
	dropped int // cancelled
}

type fuzzReq struct {
	fn      policies.FuncID
	waiting bool
	box     policies.SandboxID // NoSandbox unless it runs
}

type fuzzBox struct {
	mb      int64
	state   policies.State
	running int
	died    bool
	demoted bool // serves nobody
	owed    bool // EvReshaped
}

// byte takes the next byte, 0 at the end.
func (z *fuzz) byte() int {
	if len(z.data) == 0 {
		return 0
	}
	b := z.data[0]
	z.data = z.data[1:]
	return int(b)
}

func newFuzz(t *testing.T, data []byte) *fuzz {
	z := &fuzz{t: t, data: data, now: 1, boxes: map[policies.SandboxID]*fuzzBox{}}
	names := catalog.Names("")
	p, err := catalog.New(names[z.byte()%len(names)], "", "", catalog.Params{TTL: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	z.pool = int64(1 + z.byte())
	cfg := Config{
		PoolMB: z.pool, StartSlots: z.byte() % 4, QueueLimit: z.byte() % 8,
		StarveMin: time.Duration(z.byte()%3) * 100 * time.Millisecond,
		Scaler:    &teller{policies.Scaler(p.Scaler), z}, Evictor: p.Evictor,
	}
	n := z.byte()
	if n&4 != 0 {
		cfg.Prewarmer = &fuzzWish{z.byte()}
	}
	if n&8 != 0 {
		cfg.Evictor = &demoter{Evictor: p.Evictor}
	}
	if z.e, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	for i := range 1 + n%4 {
		z.step(Event{Kind: EvDefine, Fn: policies.FuncID(i), Spec: z.spec()})
	}
	return z
}

func (z *fuzz) spec() policies.Spec {
	s := policies.Spec{MB: int64(1 + z.byte()%64)}
	bits := z.byte()
	s.Slots, s.Max, s.OneShot = 1+bits%3, bits/4%4, bits/16%8 == 7
	s.Min = z.byte() % 3
	s.Revision = uint32(z.byte() % 4)
	return s
}

// teller counts what outcomes are told, and gives one to every request.
type teller struct {
	policies.Scaler
	z *fuzz
}

func (s *teller) Blocked(v policies.View, r policies.Request) (policies.Verdict, policies.Outcome) {
	verdict, inner := s.Scaler.Blocked(v, r)
	s.z.told = append(s.z.told, 0)
	return verdict, &fuzzOutcome{s.z, len(s.z.told) - 1, inner}
}

// Observe passes facts on to a scaler that listens.
func (s *teller) Observe(v policies.View, f policies.Fact) {
	if o, ok := s.Scaler.(policies.Observer); ok {
		o.Observe(v, f)
	}
}

type fuzzOutcome struct {
	z     *fuzz
	n     int
	inner policies.Outcome
}

func (o *fuzzOutcome) tell(f func(policies.Outcome)) {
	if o.z.told[o.n]++; o.z.told[o.n] > 1 {
		o.z.t.Fatalf("outcome %d told twice", o.n)
	}
	if o.inner != nil {
		f(o.inner)
	}
}

func (o *fuzzOutcome) Delayed(now policies.Time, d time.Duration) {
	o.tell(func(i policies.Outcome) { i.Delayed(now, d) })
}

func (o *fuzzOutcome) Cold(now policies.Time, d time.Duration) {
	o.tell(func(i policies.Outcome) { i.Cold(now, d) })
}

func (o *fuzzOutcome) Abandoned(now policies.Time, d time.Duration) {
	o.tell(func(i policies.Outcome) { i.Abandoned(now, d) })
}

// fuzzWish is a prewarmer that wants some of everything now and then.
type fuzzWish struct{ bits int }

func (w *fuzzWish) Plan(v policies.View) ([]policies.Want, policies.Time) {
	var wants []policies.Want
	for i := range v.Node().Funcs {
		wants = append(wants, policies.Want{
			Fn: policies.FuncID(i), N: w.bits >> i % 3, MayEvict: w.bits&1 != 0, KeepUntil: v.Now().Add(time.Second),
		})
	}
	w.bits = w.bits*5 + 1
	return wants, v.Now().Add(700 * time.Millisecond)
}

// demoter takes part of a sandbox's memory away when it has been idle for a
// while, later the rest, and builds starts from what is left.
type demoter struct {
	policies.Evictor
	idle []policies.SandboxID
}

func (d *demoter) Insert(v policies.View, id policies.SandboxID) {
	d.idle = append(d.idle, id)
	d.Evictor.Insert(v, id)
}

func (d *demoter) Remove(v policies.View, id policies.SandboxID) {
	d.idle = slices.DeleteFunc(d.idle, func(o policies.SandboxID) bool { return o == id })
	d.Evictor.Remove(v, id)
}

func (d *demoter) Expire(v policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	next := policies.Never
	for _, id := range d.idle {
		b := v.Sandbox(id)
		form, at := policies.FormLayer+1, b.LastUse.Add(100*time.Millisecond)
		if b.Form != policies.FormFull {
			form, at = policies.FormGone, b.LastUse.Add(500*time.Millisecond)
		}
		if at <= v.Now() {
			return id, form, policies.Never
		}
		next = policies.Earliest(next, at)
	}
	return policies.NoSandbox, policies.FormGone, next
}

// Reuse names the first demoted sandbox.
func (d *demoter) Reuse(v policies.View, _ policies.FuncID) policies.SandboxID {
	for _, id := range d.idle {
		if v.Sandbox(id).Form != policies.FormFull {
			return id
		}
	}
	return policies.NoSandbox
}

// Observe passes facts on to an evictor that listens.
func (d *demoter) Observe(v policies.View, f policies.Fact) {
	if o, ok := d.Evictor.(policies.Observer); ok {
		o.Observe(v, f)
	}
}

// op reads and does one thing.
func (z *fuzz) op() {
	op, arg := z.byte(), z.byte()
	z.now = z.now.Add(time.Duration(op/16) * 3 * time.Millisecond)
	switch op % 16 {
	case 0, 1, 2, 3, 4:
		z.arrive(policies.FuncID(arg % len(z.e.funcs)))
	case 5, 6:
		z.end(arg, op%16 == 5, false)
	case 12:
		if arg%2 == 0 {
			z.reshaped(arg)
		} else {
			z.end(arg, false, true)
		}
	case 7, 8:
		z.begun(arg, op%16 == 7)
	case 9:
		z.confirm(arg)
	case 10:
		z.cancel(arg)
	case 11:
		z.die(arg)
	case 13:
		z.change(arg)
	case 14:
		if t, ok := z.e.NextTimer(); ok && arg%2 == 0 {
			z.now = max(z.now, t)
		}
		z.now = z.now.Add(time.Duration(arg*arg) * time.Millisecond)
		z.step(Event{Kind: EvTick})
	case 15:
		z.nonsense(arg)
	}
}

func (z *fuzz) arrive(fn policies.FuncID) {
	z.arrived++
	z.reqs = append(z.reqs, fuzzReq{fn: fn, waiting: true, box: policies.NoSandbox})
	z.step(Event{Kind: EvArrive, Fn: fn, Req: policies.RequestID(len(z.reqs) - 1)})
}

// pick returns the arg-th sandbox that is as wanted, nil if there is none.
func (z *fuzz) pick(arg int, ok func(*fuzzBox) bool) (policies.SandboxID, *fuzzBox) {
	var ids []policies.SandboxID
	for _, id := range z.order {
		if b := z.boxes[id]; ok(b) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return policies.NoSandbox, nil
	}
	id := ids[arg%len(ids)]
	return id, z.boxes[id]
}

func (z *fuzz) pickReq(arg int, ok func(*fuzzReq) bool) policies.RequestID {
	var ids []policies.RequestID
	for i := range z.reqs {
		if ok(&z.reqs[i]) {
			ids = append(ids, policies.RequestID(i))
		}
	}
	if len(ids) == 0 {
		return policies.NoRequest
	}
	return ids[arg%len(ids)]
}

func (z *fuzz) end(arg int, ok, returned bool) {
	id := z.pickReq(arg, func(r *fuzzReq) bool { return r.box != policies.NoSandbox })
	if id == policies.NoRequest {
		return
	}
	r := &z.reqs[id]
	box := r.box
	b := z.boxes[box]
	b.running--
	r.box = policies.NoSandbox
	ev := Event{Kind: EvFinished, Req: id, Sandbox: box, Dur: time.Millisecond, OK: ok && !b.died}
	if returned {
		r.waiting = true
		z.ran--
		ev.Kind = EvReturned
	}
	z.step(ev)
}

func (z *fuzz) begun(arg int, ok bool) {
	id, b := z.pick(arg, func(b *fuzzBox) bool { return b.state == policies.Provisioning })
	if b == nil {
		return
	}
	if ok {
		b.state = policies.Idle
		z.step(Event{Kind: EvReady, Sandbox: id, Dur: time.Millisecond})
		return
	}
	z.bury(id)
	z.step(Event{Kind: EvFailed, Sandbox: id, Fault: Fault(arg % 2)})
}

func (z *fuzz) confirm(arg int) {
	if id, b := z.pick(arg, func(b *fuzzBox) bool { return b.state == policies.Dying }); b != nil {
		z.bury(id)
		z.step(Event{Kind: EvGone, Sandbox: id})
	}
}

func (z *fuzz) bury(id policies.SandboxID) {
	delete(z.boxes, id)
	for i, o := range z.order {
		if o == id {
			z.order = append(z.order[:i:i], z.order[i+1:]...)
			return
		}
	}
}

func (z *fuzz) reshaped(arg int) {
	id, b := z.pick(arg, func(b *fuzzBox) bool { return b.owed && b.state == policies.Idle && !b.died })
	if b == nil {
		return
	}
	z.step(Event{Kind: EvTick}) // a timer may end it
	if now := z.boxes[id]; now != b || b.state != policies.Idle {
		return
	}
	b.owed, b.mb = false, max(1, b.mb/2)
	z.step(Event{Kind: EvReshaped, Sandbox: id, Form: z.e.boxes[id].Form, MB: b.mb})
}

func (z *fuzz) cancel(arg int) {
	id := z.pickReq(arg, func(r *fuzzReq) bool { return r.waiting })
	if id == policies.NoRequest {
		return
	}
	// A timer that is due may answer it first.
	z.step(Event{Kind: EvTick})
	if r := &z.reqs[id]; r.waiting {
		r.waiting = false
		z.dropped++
		z.step(Event{Kind: EvCancel, Req: id})
	}
}

func (z *fuzz) die(arg int) {
	id, b := z.pick(arg, func(b *fuzzBox) bool { return b.state == policies.Idle && !b.died })
	if b == nil {
		return
	}
	b.died = true
	z.step(Event{Kind: EvDied, Sandbox: id})
}

func (z *fuzz) change(arg int) {
	fn := policies.FuncID(arg / 8 % len(z.e.funcs))
	switch arg % 8 {
	case 0, 1, 2, 3:
		z.step(Event{Kind: EvDefine, Fn: fn, Spec: z.spec()})
	case 4:
		z.step(Event{Kind: EvForget, Fn: fn})
	case 5:
		z.step(Event{Kind: EvEstimate, Fn: fn, Dur: time.Duration(arg) * time.Millisecond})
	case 6, 7:
		z.step(Event{Kind: EvTick}) // timers still have the old pool
		z.pool = int64(1 + z.byte())
		z.step(Event{Kind: EvResize, MB: z.pool})
	}
}

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
			if b.state != policies.Idle || b.running > 0 {
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
