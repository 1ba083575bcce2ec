package story

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/trace"
)

// Scenario is what is to be told.
type Scenario struct {
	Title     string
	Functions []trace.Profile
	Calls     []trace.Invocation
	PoolMB    int64
	Policy    func(policies.Oracle) (catalog.Policy, error)
	Future    bool
}

// Burst is the situation of the paper's Fig. 4 with four requests: one sandbox
// is warm and busy when three more requests for the same function come. A cold
// start takes 300 ms, an execution 100 ms: waiting for the busy sandbox is
// quicker than a new one for the second and third request, and only just as
// quick for the fourth. The first request, at the beginning, makes the sandbox.
func Burst() Scenario {
	f := trace.Profile{Name: "f", MB: 128, Cold: 300 * time.Millisecond}
	ms := func(at int) trace.Invocation {
		return trace.Invocation{At: time.Duration(at) * time.Millisecond, Exec: 100 * time.Millisecond}
	}
	return Scenario{
		Title:     "one warm sandbox, four requests at once",
		Functions: []trace.Profile{f},
		Calls:     []trace.Invocation{ms(0), ms(1000), ms(1010), ms(1020), ms(1030)},
		PoolMB:    1024,
	}
}

// teller keeps what sentences need.
type teller struct {
	out   io.Writer
	s     *Scenario
	req   map[policies.RequestID]int // number of the call, from 1
	names map[policies.SandboxID]int // number of the sandbox, from 1
	made  int
	next  int // calls that have been told of
	err   error
}

// Tell runs a scenario and writes a sentence a line. It returns the result.
func Tell(ctx context.Context, out io.Writer, s Scenario) (*sim.Result, error) {
	t := &teller{out: out, s: &s, req: map[policies.RequestID]int{}, names: map[policies.SandboxID]int{}}
	for _, f := range s.Functions {
		t.line(0, "function %s: %d MB, a cold start takes %v", f.Name, f.MB, f.Cold)
	}
	res, err := sim.Run(ctx, sim.Config{
		Workload: trace.FromSlice(s.Title, 0, s.Functions, s.Calls),
		Nodes:    1, PoolMB: s.PoolMB, Policy: s.Policy, Future: s.Future, Languages: 1,
		Event: t.event, Watch: t.action,
	})
	if err != nil {
		return nil, err
	}
	return res, t.err
}

func (t *teller) line(now policies.Time, format string, args ...any) {
	if t.err != nil {
		return
	}
	when := time.Duration(max(0, now-1)).Round(time.Microsecond)
	_, t.err = fmt.Fprintf(t.out, "%10v  %s\n", when, fmt.Sprintf(format, args...))
}

func (t *teller) event(now policies.Time, _ int, ev *engine.Event) {
	switch ev.Kind {
	case engine.EvArrive:
		t.next++
		t.req[ev.Req] = t.next
		t.line(now, "request %d for %s arrives", t.next, t.s.Functions[ev.Fn].Name)
	case engine.EvReady:
		t.line(now, "sandbox %d is ready after %v", t.names[ev.Sandbox], ev.Dur)
	case engine.EvFinished:
		t.line(now, "request %d ends in sandbox %d after %v of execution", t.req[ev.Req], t.names[ev.Sandbox], ev.Dur)
	case engine.EvGone:
		t.line(now, "sandbox %d is gone, its memory is free", t.names[ev.Sandbox])
	case engine.EvTick:
		t.line(now, "a timer rings: the policy looks again at who waits")
	case engine.EvDefine, engine.EvForget, engine.EvEstimate, engine.EvCancel, engine.EvReturned,
		engine.EvFailed, engine.EvDied, engine.EvReshaped, engine.EvResize:
	}
}

func (t *teller) action(now policies.Time, _ int, a *engine.Action) {
	switch a.Kind {
	case engine.ActStart:
		t.made++
		t.names[a.Sandbox] = t.made
		t.line(now, "  -> start sandbox %d for %s (%d MB)%s", t.made, t.s.Functions[a.Fn].Name, a.MB, from(a))
	case engine.ActRun:
		t.line(now, "  -> run request %d in sandbox %d: %s", t.req[a.Req], t.names[a.Sandbox], how(a))
	case engine.ActReshape:
		t.line(now, "  -> demote sandbox %d: it keeps less memory and serves nobody", t.names[a.Sandbox])
	case engine.ActDestroy:
		t.line(now, "  -> destroy sandbox %d: %v", t.names[a.Sandbox], a.Reason)
	case engine.ActReject:
		t.line(now, "  -> reject request %d: %v", t.req[a.Req], a.Reason)
	}
}

func from(a *engine.Action) string {
	if a.From == policies.NoSandbox {
		return ""
	}
	return ", built from a demoted one"
}

func how(a *engine.Action) string {
	switch {
	case a.Start == policies.Warm:
		return "warm start, it did not wait"
	case a.Start == policies.Cold:
		return fmt.Sprintf("cold start, it waited %v for this new sandbox", a.Wait)
	case a.Blocked:
		return fmt.Sprintf("delayed start, memory was short and this sandbox came free; it waited %v", a.Wait)
	}
	return fmt.Sprintf("delayed start, it waited %v for a sandbox that was busy or on its way", a.Wait)
}
