package queuelength_test

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
	"github.com/open-lambda/open-lambda/policies/lru"
	"github.com/open-lambda/open-lambda/policies/queuelength"
)

const ms = time.Millisecond

func harness(t *testing.T, limit int) *enginetest.Harness {
	t.Helper()
	s, err := queuelength.New(limit)
	if err != nil {
		t.Fatal(err)
	}
	f := enginetest.Fn{Spec: policies.Spec{MB: 100, Slots: 1}, Cold: 200 * ms}
	return enginetest.New(t, engine.Config{PoolMB: 10000, Scaler: s, Evictor: &lru.LRU{}}, f)
}

func check(t *testing.T, h *enginetest.Harness, want string) {
	t.Helper()
	if got := h.Transcript(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Four requests in a burst after a cold start, each of 100 ms.
func burst(h *enginetest.Harness) {
	h.Arrive(0, 0, 100*ms)
	for i := range 4 {
		h.Arrive(time.Duration(310+i)*ms, 0, 100*ms)
	}
	h.Run(time.Second)
}

func TestLimits(t *testing.T) {
	begin := `      0s  start f0 as s0
   200ms  run r0 on s0 cold wait 200ms
   310ms  run r1 on s0 warm wait 0s
`
	for limit, want := range map[int]string{
		0: `   311ms  start f0 as s1
   312ms  start f0 as s2
   313ms  start f0 as s3
   511ms  run r2 on s1 cold wait 200ms
   512ms  run r3 on s2 cold wait 200ms
   513ms  run r4 on s3 cold wait 200ms
`,
		1: `   312ms  start f0 as s1
   313ms  start f0 as s2
   410ms  run r2 on s0 delayed wait 99ms
   512ms  run r3 on s1 cold wait 200ms
   513ms  run r4 on s2 cold wait 200ms
`,
		2: `   313ms  start f0 as s1
   410ms  run r2 on s0 delayed wait 99ms
   510ms  run r3 on s0 delayed wait 198ms
   513ms  run r4 on s1 cold wait 200ms
`,
		queuelength.Unlimited: `   410ms  run r2 on s0 delayed wait 99ms
   510ms  run r3 on s0 delayed wait 198ms
   610ms  run r4 on s0 delayed wait 297ms
`,
	} {
		h := harness(t, limit)
		burst(h)
		check(t, h, begin+want)
	}
	if _, err := queuelength.New(-2); err == nil {
		t.Error("L = -2 is accepted")
	}
}

// s0 began earlier than s1, so it is free sooner; then both have one waiting,
// and s0 again is first; with r4 in its queue s1 has the shorter wait.
func TestShortestWait(t *testing.T) {
	h := harness(t, queuelength.Unlimited)
	h.Arrive(0, 0, 100*ms)
	h.Arrive(1*ms, 0, 100*ms) // s0 is not busy yet: a start of its own
	h.Arrive(310*ms, 0, 100*ms)
	h.Arrive(330*ms, 0, 100*ms)
	h.Arrive(340*ms, 0, 100*ms) // behind the one that began at 310
	h.Arrive(341*ms, 0, 100*ms) // behind the one that began at 330
	h.Arrive(342*ms, 0, 100*ms) // both have one: the first again
	h.Run(time.Second)
	check(t, h, `      0s  start f0 as s0
     1ms  start f0 as s1
   200ms  run r0 on s0 cold wait 200ms
   201ms  run r1 on s1 cold wait 200ms
   310ms  run r2 on s1 warm wait 0s
   330ms  run r3 on s0 warm wait 0s
   410ms  run r4 on s1 delayed wait 70ms
   430ms  run r5 on s0 delayed wait 89ms
   510ms  run r6 on s1 delayed wait 168ms
`)
}

// A queue does not die with its sandbox: a free one takes over, at once.
func TestQueueOfABrokenSandbox(t *testing.T) {
	h := harness(t, 2)
	h.Ends = func(a engine.Action) engine.Event {
		return engine.Event{Kind: engine.EvFinished, OK: a.Req != 2}
	}
	h.Arrive(0, 0, 100*ms)
	h.Arrive(1*ms, 0, 300*ms)
	h.Arrive(310*ms, 0, 200*ms) // r2 on s0, breaks it at 510
	h.Arrive(320*ms, 0, 100*ms) // r3 waits behind r2: s1, begun earlier, has one already
	h.Arrive(315*ms, 0, 5*ms)   // r4 waits behind r1 on s1, which is free at 506
	h.Run(time.Second)
	check(t, h, `      0s  start f0 as s0
     1ms  start f0 as s1
   200ms  run r0 on s0 cold wait 200ms
   201ms  run r1 on s1 cold wait 200ms
   310ms  run r2 on s0 warm wait 0s
   501ms  run r4 on s1 delayed wait 186ms
   510ms  run r3 on s1 delayed wait 190ms
   510ms  destroy s0: unusable
`)
}
