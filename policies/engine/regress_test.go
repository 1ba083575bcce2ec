package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
)

// Each test is a difference that was found between the engine and the
// reference, in its smallest form.

// script feeds events by hand.
type script struct {
	t *testing.T
	e *engine.Engine
}

func newScript(t *testing.T, preset string, poolMB int64, specs ...policies.Spec) *script {
	t.Helper()
	e, err := engine.New(config(t, preset, poolMB))
	if err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, e: e}
	for i, spec := range specs {
		s.at(0, engine.Event{Kind: engine.EvDefine, Fn: policies.FuncID(i), Spec: spec})
	}
	return s
}

// at feeds an event and returns what came of it.
func (s *script) at(d time.Duration, ev engine.Event) []string {
	s.t.Helper()
	var lines []string
	for _, a := range s.e.Step(policies.Time(1).Add(d), ev, nil) {
		lines = append(lines, describe(&a))
	}
	if err := s.e.Check(); err != nil {
		s.t.Fatalf("after %+v: %v", ev, err)
	}
	return lines
}

func (s *script) want(got []string, want ...string) {
	s.t.Helper()
	if !slices.Equal(got, want) {
		s.t.Errorf("got %q, want %q", got, want)
	}
}

func arrive(fn policies.FuncID, r policies.RequestID) engine.Event {
	return engine.Event{Kind: engine.EvArrive, Fn: fn, Req: r}
}

func ready(b policies.SandboxID) engine.Event { return engine.Event{Kind: engine.EvReady, Sandbox: b} }

func done(r policies.RequestID, b policies.SandboxID) engine.Event {
	return engine.Event{Kind: engine.EvFinished, Req: r, Sandbox: b, OK: true, Dur: ms}
}

func TestVictimsAreNotEvictedInVain(t *testing.T) {
	// One start is on its way for whoever waits, so another is not needed;
	// but BSS starts one for each request, and s0 has made way for it.
	h := enginetest.New(t, config(t, "cidre-bss", 30), fn(10, 50*ms), fn(10, 500*ms))
	h.Destroy = 10 * ms
	h.Arrive(0, 0, ms)
	h.Arrive(100*ms, 1, 550*ms)
	h.Arrive(1140*ms, 1, 50*ms) // starts s2, served by s1
	h.Arrive(1160*ms, 1, 50*ms) // needs s0's memory
	h.Run(3 * time.Second)
	want := `      0s  start f0 as s0
    50ms  run r0 on s0 cold wait 50ms
   100ms  start f1 as s1
   600ms  run r1 on s1 cold wait 500ms
   1.14s  start f1 as s2
   1.15s  run r2 on s1 delayed wait 10ms
   1.16s  destroy s0: pressure
   1.17s  start f1 as s0
    1.2s  run r3 on s1 delayed wait 40ms
`
	if got := h.Transcript(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestReturnedRequestsKeepTheirPlace(t *testing.T) {
	s := newScript(t, "cidre-bss", 100, policies.Spec{MB: 10, Slots: 2})
	s.at(0, arrive(0, 0))
	s.at(1*ms, arrive(0, 1))
	s.at(2*ms, ready(0))
	s.at(3*ms, engine.Event{Kind: engine.EvReturned, Req: 0, Sandbox: 0})
	s.at(3*ms, engine.Event{Kind: engine.EvReturned, Req: 1, Sandbox: 0})
	s.want(s.at(4*ms, ready(1)),
		"run r0 f0 s1 rev 0 cold blocked false wait 4ms",
		"run r1 f0 s1 rev 0 delayed blocked false wait 3ms")
}

func TestFailedStartYieldsToFreeSandbox(t *testing.T) {
	for _, fault := range []engine.Fault{engine.FaultHost, engine.FaultLambda} {
		s := newScript(t, "cip", 100, policies.Spec{MB: 10})
		s.at(0, arrive(0, 0))
		s.at(1*ms, ready(0))
		s.at(2*ms, arrive(0, 1))
		s.at(3*ms, done(0, 0)) // free, but r1 is bound to its own start
		s.want(s.at(4*ms, engine.Event{Kind: engine.EvFailed, Sandbox: 1, Fault: fault}),
			"run r1 f0 s0 rev 0 delayed blocked false wait 2ms")
	}
}

func TestCancelStrandsNobody(t *testing.T) {
	// f1 may have one sandbox: r1 is bound to its start, r2 waits late. The
	// start lacks memory, and goes with r1.
	s := newScript(t, "cip", 10, policies.Spec{MB: 10}, policies.Spec{MB: 10, Max: 1})
	s.at(0, arrive(0, 0))
	s.at(1*ms, ready(0))
	s.at(2*ms, arrive(1, 1))
	s.at(3*ms, arrive(1, 2))
	s.at(4*ms, engine.Event{Kind: engine.EvCancel, Req: 1})
	s.want(s.at(5*ms, done(0, 0)), "destroy s0 f0 reason 6")
	s.want(s.at(6*ms, engine.Event{Kind: engine.EvGone, Sandbox: 0}), "start s0 f1 rev 0 10 MB")
	s.want(s.at(7*ms, ready(0)), "run r2 f1 s0 rev 0 cold blocked false wait 4ms")
}

func TestShrunkPoolStrandsNobody(t *testing.T) {
	s := newScript(t, "cip", 10, policies.Spec{MB: 10}, policies.Spec{MB: 10, Max: 1})
	s.at(0, arrive(0, 0))
	s.at(1*ms, ready(0))
	s.at(2*ms, arrive(1, 1))
	s.at(3*ms, arrive(1, 2))
	s.want(s.at(4*ms, engine.Event{Kind: engine.EvResize, MB: 5}),
		"reject r1 f1 reason 2 wait 2ms", "reject r2 f1 reason 2 wait 1ms")
}

func TestPrewarmThatMayNotEvictStrandsNobody(t *testing.T) {
	cfg := config(t, "cidre-bss", 10)
	cfg.Scaler, cfg.Prewarmer = idleScaler{}, &oneWish{policies.Want{Fn: 1, N: 1}}
	e, err := engine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, e: e}
	s.at(0, engine.Event{Kind: engine.EvDefine, Fn: 0, Spec: policies.Spec{MB: 10}})
	s.at(0, arrive(0, 0))
	s.at(1*ms, ready(0))
	s.at(2*ms, engine.Event{Kind: engine.EvDefine, Fn: 1, Spec: policies.Spec{MB: 10}})
	s.at(3*ms, done(0, 0))
	s.at(3*time.Second, engine.Event{Kind: engine.EvTick})
	s.want(s.at(4*time.Second, arrive(1, 1)), "destroy s0 f0 reason 6")
}

// idleScaler wants nothing, ever.
type idleScaler struct{}

func (idleScaler) Blocked(policies.View, policies.Request) (policies.Verdict, policies.Outcome) {
	return policies.Verdict{}, nil
}

func (idleScaler) Recheck(policies.View, policies.FuncID) policies.Verdict {
	return policies.Verdict{}
}

type oneWish struct{ w policies.Want }

func (o *oneWish) Plan(v policies.View) ([]policies.Want, policies.Time) {
	return []policies.Want{o.w}, v.Now().Add(time.Second)
}

func TestForgottenMinimumDoesNotHang(t *testing.T) {
	s := newScript(t, "cidre", 100, policies.Spec{MB: 10, Min: 1})
	s.at(1*ms, engine.Event{Kind: engine.EvFailed, Sandbox: 0}) // to be tried again at 101 ms
	s.at(2*ms, engine.Event{Kind: engine.EvForget, Fn: 0})
	s.at(time.Second, engine.Event{Kind: engine.EvTick})
	if at, ok := s.e.NextTimer(); ok {
		t.Errorf("next timer is %d, want none", at)
	}
}

func TestFailingStartsAreNotReplacedAtOnce(t *testing.T) {
	// r1 waits beside a busy sandbox while every start of the function fails
	// after 1 ms: a few starts, not one every ms.
	f := fn(10, ms)
	f.Fail = func(n int) (engine.Fault, bool) { return engine.FaultLambda, n > 1 }
	h := enginetest.New(t, config(t, "cidre-bss", 100), f)
	h.Arrive(0, 0, time.Second)
	h.Arrive(10*ms, 0, ms)
	h.Run(2 * time.Second)
	starts := strings.Count(h.Transcript(), "start f0")
	if r := h.Results[1]; !r.Done || starts < 5 || starts > 15 {
		t.Errorf("%d starts\n%s", starts, h.Transcript())
	}
}
