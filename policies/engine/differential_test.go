package engine_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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

// workload is a random run: what is fed at given moments, and how sandboxes
// behave, as a function of their names and of the seed alone.
type workload struct {
	seed   uint64
	cfg    refConfig
	fns    []policies.Spec
	script []planned
	exec   []time.Duration // by request
	gone   time.Duration   // from Destroy to EvGone
	faults bool
}

type planned struct {
	at  policies.Time
	seq int
	ev  engine.Event
}

// dice gives a number that depends on the seed and on what is asked.
func (w *workload) dice(what, n, sides int) int {
	return rand.New(rand.NewPCG(w.seed, uint64(what)<<32|uint64(n))).IntN(sides)
}

const (
	diceCold = iota
	diceFail
	diceEnd
	diceDie
)

func newWorkload(seed uint64, scaler, victim string) *workload {
	r := rand.New(rand.NewPCG(seed, 1))
	w := &workload{seed: seed, gone: time.Duration(r.IntN(3)*10) * ms, faults: r.IntN(3) == 0}
	w.cfg = refConfig{pool: int64(100 + r.IntN(300)), scaler: scaler, victim: victim}
	if r.IntN(4) == 0 {
		w.cfg.slots = 1 + r.IntN(3)
	}
	if r.IntN(4) == 0 {
		w.cfg.queue = 1 + r.IntN(10)
	}
	if r.IntN(4) == 0 {
		w.cfg.starve = time.Duration(100+r.IntN(2000)) * ms
	}
	for range 1 + r.IntN(6) {
		w.fns = append(w.fns, randomSpec(r))
	}
	at := policies.Time(1)
	add := func(ev engine.Event) {
		w.script = append(w.script, planned{at: at, seq: len(w.script), ev: ev})
	}
	for range 30 + r.IntN(120) {
		w.event(r, at, add)
		at = at.Add(pause(r))
	}
	slices.SortStableFunc(w.script, func(a, b planned) int { return cmp.Compare(a.at, b.at) })
	return w
}

func randomSpec(r *rand.Rand) policies.Spec {
	s := policies.Spec{Revision: 1, MB: int64(20 + 10*r.IntN(9)), Slots: 1}
	if r.IntN(4) == 0 {
		s.Slots = 1 + r.IntN(4)
	}
	if r.IntN(4) == 0 {
		s.Max = 1 + r.IntN(3)
	}
	s.OneShot = r.IntN(10) == 0
	if r.IntN(2) == 0 {
		s.ColdEst = time.Duration(50+r.IntN(300)) * ms
	}
	return s
}

// pause is mostly short, sometimes nothing, seldom longer than a keep-alive.
func pause(r *rand.Rand) time.Duration {
	switch r.IntN(20) {
	case 0, 1, 2, 3:
		return 0
	case 4:
		return time.Duration(r.IntN(60)) * time.Second
	case 5:
		if r.IntN(4) == 0 {
			return time.Duration(r.IntN(20)) * time.Minute
		}
	}
	return time.Duration(10*r.IntN(40)) * ms
}

func (w *workload) event(r *rand.Rand, at policies.Time, add func(engine.Event)) {
	fn := policies.FuncID(r.IntN(len(w.fns)))
	switch k := r.IntN(100); {
	case k < 3:
		s := w.fns[fn]
		s.Revision = uint32(2 + r.IntN(1000))
		s.MB = int64(20 + 10*r.IntN(9))
		add(engine.Event{Kind: engine.EvDefine, Fn: fn, Spec: s})
	case k < 4:
		add(engine.Event{Kind: engine.EvForget, Fn: fn})
		add(engine.Event{Kind: engine.EvArrive, Fn: fn, Req: w.request(r)})
		add(engine.Event{Kind: engine.EvDefine, Fn: fn, Spec: w.fns[fn]})
	case k < 5:
		add(engine.Event{Kind: engine.EvResize, MB: w.cfg.pool * int64(50+r.IntN(100)) / 100})
	default:
		id := w.request(r)
		add(engine.Event{Kind: engine.EvArrive, Fn: fn, Req: id})
		if r.IntN(8) == 0 {
			w.script = append(w.script, planned{
				at: at.Add(time.Duration(r.IntN(500)) * ms), seq: len(w.script),
				ev: engine.Event{Kind: engine.EvCancel, Req: id},
			})
		}
	}
}

func (w *workload) request(r *rand.Rand) policies.RequestID {
	w.exec = append(w.exec, time.Duration(10*r.IntN(60))*ms)
	return policies.RequestID(len(w.exec) - 1)
}

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

// TestEngineMatchesReference runs hundreds of random workloads through the
// engine and through the naive reference: the same actions in the same order,
// with the same waits and kinds.
func TestEngineMatchesReference(t *testing.T) {
	runs := 60
	if testing.Short() {
		runs = 15
	}
	// Those that the reference has: the product's own and their baselines.
	for _, scaler := range []string{"css", "css-literal", "bss", "coldstart"} {
		for _, victim := range []string{"cip", "faascache", "faascache-c", "lru", "ttl"} {
			t.Run(scaler+"/"+victim, func(t *testing.T) {
				for seed := range runs {
					w := newWorkload(uint64(seed), scaler, victim)
					compareLogs(t, seed, w.run(w.newEngine(t)), w.run(newRef(w.cfg)))
				}
			})
		}
	}
}

func compareLogs(t *testing.T, seed int, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i < len(got) && i < len(want) && got[i] == want[i] {
			continue
		}
		from := max(0, i-12)
		t.Fatalf("seed %d: action %d differs, after\n%s\nengine\n%s\nreference\n%s", seed, i,
			strings.Join(got[from:i], "\n"), strings.Join(window(got, i), "\n"), strings.Join(window(want, i), "\n"))
	}
}

func window(log []string, i int) []string { return log[min(i, len(log)):min(i+6, len(log))] }
