package engine_test

// What policies are told, and what they see when they are asked.

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/cidre"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/lru"
)

// listener is an evictor that writes down what it is told.
type listener struct {
	lru.LRU
	heard []string
}

func (l *listener) Observe(v policies.View, f policies.Fact) {
	at := v.Now().Sub(1)
	switch f.Kind {
	case policies.FactArrived:
		l.note("%v r%d arrived, f%d has had %d", at, f.Req, f.Fn, v.Func(f.Fn).Arrived)
	case policies.FactStarted:
		l.note("%v s%d started for %d, %d provisioning", at, f.Sandbox, f.Seq, v.Func(f.Fn).Provisioning)
	case policies.FactReady:
		l.note("%v s%d ready in %v", at, f.Sandbox, f.Dur)
	case policies.FactUsed:
		l.note("%v r%d used s%d, %v after %v", at, f.Req, f.Sandbox, f.Start, f.Dur)
	case policies.FactFinished:
		l.note("%v r%d finished on s%d in %v", at, f.Req, f.Sandbox, f.Dur)
	case policies.FactIdle:
		l.note("%v s%d idle, %d MB idle", at, f.Sandbox, v.Node().IdleMB)
	case policies.FactEvicted:
		l.note("%v s%d evicted for %d, %d live", at, f.Sandbox, f.Seq, v.Func(f.Fn).Live)
	case policies.FactGone:
		l.note("%v s%d gone, %d live", at, f.Sandbox, v.Func(f.Fn).Live)
	case policies.FactDropped:
		l.note("%v r%d dropped, %d waiting", at, f.Req, v.Func(f.Fn).Waiting)
	}
}

func (l *listener) note(format string, args ...any) {
	l.heard = append(l.heard, fmt.Sprintf(format, args...))
}

func wantHeard(t *testing.T, l *listener, want string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(want) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if got := strings.Join(l.heard, "\n"); got != strings.Join(lines, "\n") {
		t.Errorf("heard\n%s\nwant\n%s", got, strings.Join(lines, "\n"))
	}
}

func TestFactsOfAnEviction(t *testing.T) {
	l := &listener{}
	h := drive(t, engine.Config{PoolMB: 100, Scaler: coldstart.Scaler{}, Evictor: l}, twoOf100(),
		[]call{{0, 0, 10 * ms}, {sec, 1, 10 * ms}}, 2*sec)
	wantHeard(t, l, `
		0s r0 arrived, f0 has had 1
		0s s0 started for 1, 1 provisioning
		100ms s0 ready in 100ms
		100ms r0 used s0, cold after 100ms
		110ms r0 finished on s0 in 10ms
		110ms s0 idle, 100 MB idle
		1s r1 arrived, f1 has had 1
		1s s0 evicted for 2, 1 live
		1s s0 gone, 0 live
		1s s0 started for 2, 1 provisioning
		1.1s s0 ready in 100ms
		1.1s r1 used s0, cold after 100ms
		1.11s r1 finished on s0 in 10ms
		1.11s s0 idle, 100 MB idle`)
	wantString(t, h, "kinds", kinds(h), "cold cold")
}

func TestFactsOfRequestsThatAreDropped(t *testing.T) {
	l := &listener{}
	h := drive(t, engine.Config{PoolMB: 100, Scaler: cidre.BSS{}, Evictor: l}, twoOf100(), nil, 0)
	h.Arrive(0, 0, sec)
	h.Cancel(50*ms, h.Arrive(0, 0, sec))
	h.Arrive(50*ms, 0, sec)
	h.Plan(200*ms, engine.Event{Kind: engine.EvForget, Fn: 0})
	h.Run(2 * sec)
	wantHeard(t, l, `
		0s r0 arrived, f0 has had 1
		0s s0 started for 1, 1 provisioning
		0s r1 arrived, f0 has had 2
		50ms r1 dropped, 1 waiting
		50ms r2 arrived, f0 has had 3
		100ms s0 ready in 100ms
		100ms r0 used s0, cold after 100ms
		200ms r2 dropped, 0 waiting
		200ms s0 gone, 0 live
		1.1s r0 finished on s0 in 1s`)
}

// onlooker is a scaler that writes down what it sees when it is asked.
type onlooker struct {
	cidre.BSS
	listener
}

func (o *onlooker) Blocked(v policies.View, r policies.Request) (policies.Verdict, policies.Outcome) {
	f := v.Func(r.Fn)
	var busy, coming []string
	for id := f.FirstBusy; id != policies.NoSandbox; id = v.Sandbox(id).NextBusy {
		busy = append(busy, fmt.Sprintf("s%d since %v", id, v.Sandbox(id).BusySince.Sub(1)))
	}
	for id := f.FirstStarting; id != policies.NoSandbox; id = v.Sandbox(id).Next {
		coming = append(coming, fmt.Sprintf("s%d at %v", id, v.Sandbox(id).ExpectReady.Sub(1)))
	}
	o.note("r%d: %d waiting since %v, busy %v, coming %v, %d queued, %d live, %d MB free",
		r.ID, f.Waiting, f.HeadSince.Sub(1), busy, coming, f.Queued, f.Live, v.Node().FreeMB)
	return o.BSS.Blocked(v, r)
}

func (o *onlooker) Observe(policies.View, policies.Fact) {}

func TestViewAtADecision(t *testing.T) {
	fns := twoOf100()
	fns[0].Spec.ColdEst = 100 * ms
	o := &onlooker{}
	drive(t, engine.Config{PoolMB: 300, Scaler: o, Evictor: &lru.LRU{}}, fns, []call{
		{0, 0, sec}, {20 * ms, 0, sec}, {500 * ms, 0, sec}, {550 * ms, 0, sec}, {580 * ms, 0, sec},
	}, 5*sec)
	wantHeard(t, &o.listener, `
		r0: 1 waiting since 0s, busy [], coming [], 0 queued, 0 live, 300 MB free
		r1: 2 waiting since 0s, busy [], coming [s0 at 100ms], 0 queued, 1 live, 200 MB free
		r2: 1 waiting since 500ms, busy [s1 since 120ms s0 since 100ms], coming [], 0 queued, 2 live, 100 MB free
		r3: 2 waiting since 500ms, busy [s1 since 120ms s0 since 100ms], coming [s2 at 600ms], 0 queued, 3 live, 0 MB free
		r4: 3 waiting since 500ms, busy [s1 since 120ms s0 since 100ms], coming [s2 at 600ms], 1 queued, 3 live, 0 MB free`)
}

func TestOutcomeIsToldOnceForEveryEnd(t *testing.T) {
	// One request of each end: cold, delayed, cancelled and forgotten.
	s := &counter{}
	h := drive(t, engine.Config{PoolMB: 100, Scaler: s, Evictor: &lru.LRU{}}, twoOf100(), nil, 0)
	h.Arrive(0, 0, 500*ms)               // cold
	h.Arrive(10*ms, 0, 500*ms)           // delayed
	h.Cancel(50*ms, h.Arrive(0, 0, sec)) // cancelled
	h.Arrive(20*ms, 0, 100*ms)           // forgotten
	h.Plan(900*ms, engine.Event{Kind: engine.EvForget, Fn: 0})
	h.Run(3 * sec)
	if *s != (counter{asked: 4, cold: 1, delayed: 1, abandoned: 2}) {
		t.Errorf("%+v", *s)
	}
}

// counter is BSS that counts outcomes.
type counter struct{ asked, cold, delayed, abandoned int }

func (c *counter) Blocked(v policies.View, r policies.Request) (policies.Verdict, policies.Outcome) {
	c.asked++
	verdict, _ := cidre.BSS{}.Blocked(v, r)
	return verdict, c
}

func (c *counter) Recheck(v policies.View, fn policies.FuncID) policies.Verdict {
	return cidre.BSS{}.Recheck(v, fn)
}

func (c *counter) Cold(policies.Time, time.Duration)      { c.cold++ }
func (c *counter) Delayed(policies.Time, time.Duration)   { c.delayed++ }
func (c *counter) Abandoned(policies.Time, time.Duration) { c.abandoned++ }
