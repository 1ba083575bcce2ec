package engine_test

// Sketches of other people's scalers, to prove that the interface fits them:
// small, only for tests, and not tuned.

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
	"github.com/open-lambda/open-lambda/policies/lru"
)

// queueLength lets up to limit requests wait for each busy sandbox, bound to
// the one with the fewest, before it starts another (the paper's Figures 5 to
// 7).
type queueLength struct {
	limit   int
	waiting [64]int // by SandboxID
}

func (q *queueLength) Blocked(v policies.View, r policies.Request) (policies.Verdict, policies.Outcome) {
	best := policies.NoSandbox
	for id := v.Func(r.Fn).FirstBusy; id != policies.NoSandbox; id = v.Sandbox(id).NextBusy {
		if q.waiting[id] < q.limit && (best == policies.NoSandbox || q.waiting[id] <= q.waiting[best]) {
			best = id
		}
	}
	if best == policies.NoSandbox {
		return policies.Verdict{Start: 1, Bind: policies.ToStart}, nil
	}
	q.waiting[best]++
	return policies.Verdict{Bind: policies.ToSandbox, Sandbox: best}, &place{q, best}
}

func (q *queueLength) Recheck(policies.View, policies.FuncID) policies.Verdict {
	return policies.Verdict{}
}

// place is a request's place in the queue of a sandbox.
type place struct {
	q  *queueLength
	id policies.SandboxID
}

func (p *place) Delayed(policies.Time, time.Duration)   { p.q.waiting[p.id]-- }
func (p *place) Cold(policies.Time, time.Duration)      { p.q.waiting[p.id]-- }
func (p *place) Abandoned(policies.Time, time.Duration) { p.q.waiting[p.id]-- }

func TestSketchQueueLength(t *testing.T) {
	// One sandbox, busy from 1 s to 2 s, cold start 300 ms. Four requests
	// arrive at 1.1 s to 1.4 s.
	calls := []call{
		{0, 0, ms},
		{sec, 0, sec},
		{1100 * ms, 0, 100 * ms},
		{1200 * ms, 0, 100 * ms},
		{1300 * ms, 0, 100 * ms},
		{1400 * ms, 0, 100 * ms},
	}
	for _, c := range []struct {
		limit int
		want  string
		waits []time.Duration
	}{
		{0, "cold warm cold cold cold cold", []time.Duration{300 * ms, 0, 300 * ms, 300 * ms, 300 * ms, 300 * ms}},
		{1, "cold warm delayed cold cold cold", []time.Duration{300 * ms, 0, 900 * ms, 300 * ms, 300 * ms, 300 * ms}},
		{2, "cold warm delayed delayed cold cold", []time.Duration{300 * ms, 0, 900 * ms, 900 * ms, 300 * ms, 300 * ms}},
		{99, "cold warm delayed delayed delayed delayed", []time.Duration{300 * ms, 0, 900 * ms, 900 * ms, 900 * ms, 900 * ms}},
	} {
		q := &queueLength{limit: c.limit}
		h := drive(t, engine.Config{PoolMB: 1000, Scaler: q, Evictor: &lru.LRU{}}, []enginetest.Fn{fn(100, 300*ms)}, calls, 10*sec)
		wantString(t, h, "kinds", kinds(h), c.want)
		wantWaits(t, h, c.waits...)
		if q.waiting != [64]int{} {
			t.Errorf("limit %d: places left over: %v", c.limit, q.waiting)
		}
	}
}

func TestSketchQueueLengthWhenTheSandboxDies(t *testing.T) {
	// r2 and r3 wait for s0, which dies: the scaler is asked anew, and their
	// order stays.
	q := &queueLength{limit: 5}
	h := enginetest.New(t, engine.Config{PoolMB: 100, Scaler: q, Evictor: &lru.LRU{}}, fn(100, 100*ms))
	h.Ends = func(a engine.Action) engine.Event { return engine.Event{Kind: engine.EvFinished, OK: a.Req != 1} }
	h.Arrive(0, 0, ms)
	h.Arrive(sec, 0, 500*ms)
	h.Arrive(1100*ms, 0, 10*ms)
	h.Arrive(1200*ms, 0, 10*ms)
	h.Plan(1300*ms, engine.Event{Kind: engine.EvDied, Sandbox: 0})
	h.Run(5 * sec)
	wantLog(t, h, `
		0s    start f0 as s0
		100ms run r0 on s0 cold wait 100ms
		1s    run r1 on s0 warm wait 0s
		1.5s  destroy s0: unusable
		1.5s  start f0 as s0
		1.6s  run r2 on s0 cold wait 500ms
		1.61s run r3 on s0 delayed wait 410ms blocked`)
	if q.waiting != [64]int{} {
		t.Errorf("places left over: %v", q.waiting)
	}
}

func TestSketchQueueLengthUnderChange(t *testing.T) {
	// r1 runs on s0 until 2.1 s, r2 and r3 wait for it; something happens at
	// 1.3 s.
	for _, c := range []struct {
		name string
		ev   engine.Event
		want string
	}{
		{"cancelled", engine.Event{Kind: engine.EvCancel, Req: 2}, "cold delayed - delayed"},
		{"forgotten", engine.Event{Kind: engine.EvForget}, "cold delayed - -"},
		{"new revision", define(2, 100), "cold delayed cold cold"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := &queueLength{limit: 5}
			h := enginetest.New(t, engine.Config{PoolMB: 1000, Scaler: q, Evictor: &lru.LRU{}}, fn(100, 100*ms))
			for _, at := range []time.Duration{0, sec, 1100 * ms, 1200 * ms} {
				h.Arrive(at, 0, sec)
			}
			h.Plan(1300*ms, c.ev)
			h.Run(5 * sec)
			wantString(t, h, "kinds", kinds(h), c.want)
			if q.waiting != [64]int{} || view(h, 0).Waiting != 0 {
				t.Errorf("left over: %v, %d waiting", q.waiting, view(h, 0).Waiting)
			}
		})
	}
}

// offline compares the exact moment at which a busy sandbox is free with a
// cold start (the paper's section 4).
type offline struct {
	oracle policies.Oracle
	freeAt [64]policies.Time // by SandboxID, what is bound to it included
}

func (o *offline) Blocked(v policies.View, r policies.Request) (policies.Verdict, policies.Outcome) {
	f, best := v.Func(r.Fn), policies.NoSandbox
	for id := f.FirstBusy; id != policies.NoSandbox; id = v.Sandbox(id).NextBusy {
		if best == policies.NoSandbox || o.freeAt[id] < o.freeAt[best] {
			best = id
		}
	}
	if best == policies.NoSandbox || o.freeAt[best].Sub(v.Now()) > f.ColdNow {
		return policies.Verdict{Start: 1, Bind: policies.ToStart}, nil
	}
	o.freeAt[best] = o.freeAt[best].Add(o.oracle.Exec(r.ID))
	return policies.Verdict{Bind: policies.ToSandbox, Sandbox: best}, nil
}

func (o *offline) Recheck(policies.View, policies.FuncID) policies.Verdict { return policies.Verdict{} }

func (o *offline) Observe(v policies.View, f policies.Fact) {
	if f.Kind == policies.FactUsed {
		o.freeAt[f.Sandbox] = max(o.freeAt[f.Sandbox], v.Now().Add(o.oracle.Exec(f.Req)))
	}
}

func TestSketchOffline(t *testing.T) {
	// Cold start 100 ms. s0 is busy until 1.5 s: at 1.3 s a start is better,
	// at 1.43 s waiting is, and the second one there would wait 570 ms.
	calls := []call{{0, 0, ms}, {sec, 0, 500 * ms}, {1300 * ms, 0, sec}, {1430 * ms, 0, 600 * ms}, {1440 * ms, 0, ms}}
	f := fn(100, 100*ms)
	f.Spec.ColdEst = 100 * ms
	o := &offline{oracle: &future{calls: calls}}
	h := drive(t, engine.Config{PoolMB: 1000, Scaler: o, Evictor: &lru.LRU{}}, []enginetest.Fn{f}, calls, 5*sec)
	wantString(t, h, "kinds", kinds(h), "cold warm cold delayed cold")
	wantWaits(t, h, 100*ms, 0, 100*ms, 70*ms, 100*ms)
}

// thrifty races a start for each request and gives up the newest ones as soon
// as more are on their way than requests wait.
type thrifty struct{}

func (thrifty) Blocked(policies.View, policies.Request) (policies.Verdict, policies.Outcome) {
	return policies.Verdict{Start: 1}, nil
}

func (thrifty) Recheck(v policies.View, fn policies.FuncID) policies.Verdict {
	f := v.Func(fn)
	return policies.Verdict{Cancel: max(0, f.Provisioning+f.Queued-f.Waiting)}
}

func TestSketchGivingUpStarts(t *testing.T) {
	h := drive(t, engine.Config{PoolMB: 1000, Scaler: thrifty{}, Evictor: &lru.LRU{}}, []enginetest.Fn{fn(100, 300*ms)},
		[]call{{0, 0, ms}, {sec, 0, 100 * ms}, {1010 * ms, 0, sec}, {1020 * ms, 0, ms}}, 5*sec)
	wantLog(t, h, `
		0s    start f0 as s0
		300ms run r0 on s0 cold wait 300ms
		1s    run r1 on s0 warm wait 0s
		1.01s start f0 as s1
		1.02s start f0 as s2
		1.1s  run r2 on s0 delayed wait 90ms
		1.1s  destroy s2: cancelled
		1.31s run r3 on s1 cold wait 290ms`)
}

// concurrencyScaler scales to the mean concurrency of a window, in ticks, in
// the style of Knative: nobody is started on arrival unless there is none.
// It is the evictor too: surplus idle sandboxes go, one per tick.
type concurrencyScaler struct {
	lru.LRU
	sum, n, want float64 // of the only function
	tick         time.Duration
	nextDown     policies.Time
}

func (k *concurrencyScaler) Blocked(v policies.View, r policies.Request) (policies.Verdict, policies.Outcome) {
	return k.Recheck(v, r.Fn), nil
}

func (k *concurrencyScaler) Recheck(v policies.View, fn policies.FuncID) policies.Verdict {
	f := v.Func(fn)
	now := float64(f.BusyCount + f.Waiting)
	if k.sum, k.n = k.sum+now, k.n+1; k.n > 4 {
		k.sum, k.n = k.sum/2, k.n/2
	}
	k.want = max(now, k.sum/k.n) // panic mode follows the present
	return policies.Verdict{Start: max(0, int(k.want)-f.Live-f.Queued), Again: v.Now().Add(k.tick)}
}

func (k *concurrencyScaler) Expire(v policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	if v.Now() < k.nextDown {
		return policies.NoSandbox, policies.FormGone, k.nextDown
	}
	k.nextDown = v.Now().Add(k.tick)
	if id, ok := k.Next(v, policies.Start{}); ok && float64(v.Func(0).Live) > k.want {
		return id, policies.FormGone, policies.Never
	}
	return policies.NoSandbox, policies.FormGone, k.nextDown
}

func TestSketchConcurrencyScaler(t *testing.T) {
	k := &concurrencyScaler{tick: 2 * sec}
	var calls []call
	for range 4 {
		calls = append(calls, call{0, 0, 5 * sec})
	}
	h := drive(t, engine.Config{PoolMB: 1000, Scaler: k, Evictor: k}, []enginetest.Fn{fn(100, 300*ms)}, calls, 7*sec)
	wantString(t, h, "kinds", kinds(h), "cold cold cold cold")
	h.Run(time.Minute)
	if f := view(h, 0); f.Live > 1 || len(lines(h, "destroy")) < 3 {
		t.Errorf("%d sandboxes left without load\n%s", f.Live, h.Transcript())
	}
}

// firstCreated prefers the oldest sandbox, as the teaching model of keep-alive
// does.
type firstCreated struct{}

func (firstCreated) Pick(v policies.View, fn policies.FuncID) policies.SandboxID {
	best := v.Func(fn).FirstAvailable
	for id := best; id != policies.NoSandbox; id = v.Sandbox(id).Next {
		if v.Sandbox(id).Born < v.Sandbox(best).Born {
			best = id
		}
	}
	return best
}

func TestSketchPicker(t *testing.T) {
	cfg := engine.Config{PoolMB: 1000, Scaler: coldstart.Scaler{}, Evictor: &lru.LRU{}, Picker: firstCreated{}}
	h := drive(t, cfg, []enginetest.Fn{fn(100, 100*ms)},
		[]call{{0, 0, 10 * ms}, {0, 0, 30 * ms}, {sec, 0, ms}, {2 * sec, 0, ms}}, 3*sec)
	if a, b := h.Results[2].Sandbox, h.Results[3].Sandbox; a != 0 || b != 0 {
		t.Errorf("runs on s%d and s%d, want s0\n%s", a, b, h.Transcript())
	}
}
