package engine

import (
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
	names := slices.DeleteFunc(catalog.Names(""), func(name string) bool {
		e, _ := catalog.Find(name)
		return slices.Contains(e.Caps, catalog.CapOracle) // an oracle needs a workload
	})
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
