package enginetest

import (
	"container/heap"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// Fn says how a function of the test behaves.
type Fn struct {
	Spec policies.Spec
	Cold time.Duration // from Start to ready
	// Fail, if not nil, says how the n-th start (from 1) of the function
	// fails; ok false means that it succeeds.
	Fail func(n int) (fault engine.Fault, ok bool)
}

// Result is what became of a request.
type Result struct {
	Fn       policies.FuncID
	Arrived  time.Duration
	Sandbox  policies.SandboxID
	Kind     policies.Kind
	Blocked  bool
	Wait     time.Duration
	Served   bool
	Rejected engine.Reason
	Done     bool
}

// Harness is one run.
type Harness struct {
	T       testing.TB
	E       *engine.Engine
	Destroy time.Duration // from Destroy to gone
	Log     []string      // the actions, one a line: see Transcript
	Results []Result      // by RequestID
	NoCheck bool          // skip Check after every Step (benchmarks)
	Story   bool          // the log tells what happened as well, not only the actions

	// Ends, if not nil, says how a run ends, after its execution time; the
	// event's Req and Sandbox are filled in. Otherwise it finishes well.
	Ends func(engine.Action) engine.Event
	// Reshape, if not nil, says how long a reshaping takes and what is left;
	// otherwise a test answers by itself.
	Reshape func(engine.Action) (after time.Duration, mb int64)

	now    policies.Time
	seq    int
	plan   planned
	fns    []Fn
	starts []int // by FuncID: starts so far
	exec   []time.Duration
	out    []engine.Action
	making map[policies.SandboxID]int // which start makes it; absent once it was destroyed
	made   int
}

type item struct {
	at  policies.Time
	seq int
	ev  engine.Event
	do  func()
}

type planned []item

func (p planned) Len() int { return len(p) }
func (p planned) Less(i, j int) bool {
	return p[i].at < p[j].at || (p[i].at == p[j].at && p[i].seq < p[j].seq)
}
func (p planned) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *planned) Push(x any)   { *p = append(*p, x.(item)) }
func (p *planned) Pop() any {
	old := *p
	x := old[len(old)-1]
	*p = old[:len(old)-1]
	return x
}

// epoch keeps moment 0 of a test apart from Never.
const epoch policies.Time = 1

// New makes an engine and defines the functions at time 0.
func New(t testing.TB, cfg engine.Config, fns ...Fn) *Harness {
	t.Helper()
	e, err := engine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	h := &Harness{T: t, E: e, now: epoch, fns: fns, starts: make([]int, len(fns)), making: map[policies.SandboxID]int{}}
	for i, f := range fns {
		h.Step(engine.Event{Kind: engine.EvDefine, Fn: policies.FuncID(i), Spec: f.Spec})
	}
	return h
}

// Now returns the time of the run.
func (h *Harness) Now() time.Duration { return h.now.Sub(epoch) }

// Arrive plans a request that runs for the given time; its id is returned.
func (h *Harness) Arrive(at time.Duration, fn policies.FuncID, exec time.Duration) policies.RequestID {
	id := policies.RequestID(len(h.exec))
	h.exec = append(h.exec, exec)
	h.Results = append(h.Results, Result{Fn: fn, Arrived: at, Sandbox: policies.NoSandbox})
	h.Plan(at, engine.Event{Kind: engine.EvArrive, Fn: fn, Req: id})
	return id
}

// Cancel plans the end of a caller's patience.
func (h *Harness) Cancel(at time.Duration, id policies.RequestID) {
	h.Plan(at, engine.Event{Kind: engine.EvCancel, Req: id})
}

// Plan plans any event.
func (h *Harness) Plan(at time.Duration, ev engine.Event) { h.push(epoch.Add(at), item{ev: ev}) }

// ReadyAt plans that a sandbox which will be provisioned then is ready at a
// moment of the test's choice instead of after its function's cold start.
func (h *Harness) ReadyAt(at time.Duration, id policies.SandboxID) {
	h.Do(at, func() {
		delete(h.making, id)
		h.Step(engine.Event{Kind: engine.EvReady, Sandbox: id})
	})
}

// Do plans a call, for instance one that looks at the state.
func (h *Harness) Do(at time.Duration, f func()) { h.push(epoch.Add(at), item{do: f}) }

func (h *Harness) push(at policies.Time, it item) {
	h.seq++
	it.at, it.seq = max(at, h.now), h.seq
	heap.Push(&h.plan, it)
}

// Run feeds everything planned, and due timers, up to and including a moment.
func (h *Harness) Run(until time.Duration) {
	h.T.Helper()
	end := epoch.Add(until)
	for {
		t, timer := h.E.NextTimer()
		switch {
		case len(h.plan) > 0 && h.plan[0].at <= end && (!timer || h.plan[0].at <= t):
			it := heap.Pop(&h.plan).(item)
			h.now = it.at
			if it.do != nil {
				it.do()
				continue
			}
			h.Step(it.ev)
		case timer && t <= end:
			h.now = max(h.now, t)
			h.Step(engine.Event{Kind: engine.EvTick})
		default:
			h.now = max(h.now, end)
			return
		}
	}
}

// Step feeds one event now, and performs the actions.
func (h *Harness) Step(ev engine.Event) {
	h.T.Helper()
	if ev.Kind == engine.EvFinished {
		h.Results[ev.Req].Done = true
	}
	h.tell(&ev)
	h.out = h.E.Step(h.now, ev, h.out[:0])
	for i := range h.out {
		h.perform(&h.out[i])
	}
	if h.NoCheck {
		return
	}
	if err := h.E.Check(); err != nil {
		h.T.Fatalf("after %+v at %v:\n%v\n%s", ev, h.Now(), err, h.Transcript())
	}
}

func (h *Harness) perform(a *engine.Action) {
	switch a.Kind {
	case engine.ActStart:
		h.start(a)
	case engine.ActRun:
		r := &h.Results[a.Req]
		r.Served, r.Sandbox, r.Kind, r.Blocked, r.Wait = true, a.Sandbox, a.Start, a.Blocked, a.Wait
		h.note("run r%d on s%d %v wait %v%s", a.Req, a.Sandbox, a.Start, a.Wait, mark(a.Blocked, " blocked"))
		h.push(h.now.Add(h.exec[a.Req]), item{ev: h.end(a)})
	case engine.ActReshape:
		h.note("reshape s%d to %v", a.Sandbox, a.Form)
		if h.Reshape != nil {
			after, mb := h.Reshape(*a)
			h.push(h.now.Add(after), item{ev: engine.Event{Kind: engine.EvReshaped, Sandbox: a.Sandbox, Form: a.Form, MB: mb}})
		}
	case engine.ActDestroy:
		h.note("destroy s%d: %v", a.Sandbox, a.Reason)
		delete(h.making, a.Sandbox)
		h.push(h.now.Add(h.Destroy), item{ev: engine.Event{Kind: engine.EvGone, Sandbox: a.Sandbox}})
	case engine.ActReject:
		h.Results[a.Req].Rejected, h.Results[a.Req].Wait = a.Reason, a.Wait
		h.note("reject r%d after %v: %v", a.Req, a.Wait, a.Reason)
	}
}

func (h *Harness) start(a *engine.Action) {
	f := &h.fns[a.Fn]
	h.starts[a.Fn]++
	h.made++
	n := h.made
	h.making[a.Sandbox] = n
	h.note("start f%d as s%d%s", a.Fn, a.Sandbox, mark(a.From != policies.NoSandbox, fmt.Sprintf(" from s%d", a.From)))
	ev := engine.Event{Kind: engine.EvReady, Sandbox: a.Sandbox, Dur: f.Cold}
	if f.Fail != nil {
		if fault, fails := f.Fail(h.starts[a.Fn]); fails {
			ev.Kind, ev.Fault = engine.EvFailed, fault
		}
	}
	id := a.Sandbox
	h.push(h.now.Add(f.Cold), item{do: func() {
		if h.making[id] == n {
			h.Step(ev)
		}
	}})
}

// end is the event that ends a run.
func (h *Harness) end(a *engine.Action) engine.Event {
	ev := engine.Event{Kind: engine.EvFinished, OK: true}
	if h.Ends != nil {
		ev = h.Ends(*a)
	}
	ev.Req, ev.Sandbox, ev.Dur = a.Req, a.Sandbox, h.exec[a.Req]
	return ev
}

// tell notes an event that a story needs.
func (h *Harness) tell(ev *engine.Event) {
	if !h.Story {
		return
	}
	switch ev.Kind {
	case engine.EvArrive:
		h.note("r%d arrives for f%d", ev.Req, ev.Fn)
	case engine.EvCancel:
		h.note("r%d is cancelled", ev.Req)
	case engine.EvFinished:
		h.note("r%d ends on s%d%s", ev.Req, ev.Sandbox, mark(!ev.OK, ", which is broken"))
	case engine.EvReturned:
		h.note("r%d comes back from s%d unsent", ev.Req, ev.Sandbox)
	case engine.EvReady:
		h.note("s%d is ready", ev.Sandbox)
	case engine.EvFailed:
		h.note("s%d fails to start, %v", ev.Sandbox, ev.Fault)
	case engine.EvGone:
		h.note("s%d is gone", ev.Sandbox)
	case engine.EvDied:
		h.note("s%d dies", ev.Sandbox)
	case engine.EvDefine, engine.EvForget, engine.EvEstimate, engine.EvReshaped, engine.EvResize, engine.EvTick:
	}
}

func mark(on bool, text string) string {
	if on {
		return text
	}
	return ""
}

func (h *Harness) note(format string, args ...any) {
	h.Log = append(h.Log, fmt.Sprintf("%8v  ", h.Now())+fmt.Sprintf(format, args...))
}

// Transcript returns the actions so far, one a line.
func (h *Harness) Transcript() string { return strings.Join(h.Log, "\n") + "\n" }
