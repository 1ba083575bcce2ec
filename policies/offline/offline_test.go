package offline_test

import (
	"errors"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
	"github.com/open-lambda/open-lambda/policies/lru"
	"github.com/open-lambda/open-lambda/policies/offline"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

type call struct {
	at   time.Duration
	fn   policies.FuncID
	exec time.Duration
}

// script is a workload that knows itself. Calls are in order of time, and no
// function has two at the same moment.
type script struct {
	calls []call
	h     *enginetest.Harness
}

func (s *script) NextArrival(fn policies.FuncID, k int) policies.Time {
	for _, c := range s.calls {
		if c.fn == fn && c.at > s.h.Now() {
			if k--; k == 0 {
				return policies.Time(1).Add(c.at)
			}
		}
	}
	return policies.Never
}

func (s *script) Exec(id policies.RequestID) time.Duration { return s.calls[id].exec }

func (s *script) play(t *testing.T, cfg engine.Config, n int) string {
	t.Helper()
	f := enginetest.Fn{Spec: policies.Spec{MB: 100, Slots: 1, ColdEst: 200 * ms}, Cold: 200 * ms}
	fns := make([]enginetest.Fn, n)
	for i := range fns {
		fns[i] = f
	}
	s.h = &enginetest.Harness{}
	*s.h = *enginetest.New(t, cfg, fns...)
	for _, c := range s.calls {
		s.h.Arrive(c.at, c.fn, c.exec)
	}
	s.h.Run(100 * sec)
	return s.h.Transcript()
}

func wantText(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// At 10 s the next uses are: f0 at 20 s, f1 at 12 s, f2 at 15 s: f0's goes,
// which is LRU's choice as well, and the others are warm. At 20 s nobody is
// called again: the least recently used one goes, f3's.
func TestBeladyTakesTheFurthest(t *testing.T) {
	s := &script{calls: []call{{0, 0, ms}, {sec, 1, ms}, {2 * sec, 2, ms}, {10 * sec, 3, ms}, {12 * sec, 1, ms}, {15 * sec, 2, ms}, {20 * sec, 0, ms}}}
	e, err := offline.NewBelady(s)
	if err != nil {
		t.Fatal(err)
	}
	got := s.play(t, engine.Config{PoolMB: 300, Scaler: coldstart.Scaler{}, Evictor: e}, 4)
	wantText(t, got, `      0s  start f0 as s0
   200ms  run r0 on s0 cold wait 200ms
      1s  start f1 as s1
    1.2s  run r1 on s1 cold wait 200ms
      2s  start f2 as s2
    2.2s  run r2 on s2 cold wait 200ms
     10s  destroy s0: pressure
     10s  start f3 as s0
   10.2s  run r3 on s0 cold wait 200ms
     12s  run r4 on s1 warm wait 0s
     15s  run r5 on s2 warm wait 0s
     20s  destroy s0: pressure
     20s  start f0 as s0
   20.2s  run r6 on s0 cold wait 200ms
`)
}

// f0 has two idle sandboxes and is called at 20 s and 60 s, f1 has one and is
// called at 30 s: the second of f0 would be used at 60 s, so it goes.
func TestBeladyCountsIdleSandboxes(t *testing.T) {
	s := &script{calls: []call{{0, 0, sec}, {ms, 0, sec}, {5 * sec, 1, ms}, {10 * sec, 2, ms}, {20 * sec, 0, ms}, {30 * sec, 1, ms}, {60 * sec, 0, ms}}}
	e, err := offline.NewBelady(s)
	if err != nil {
		t.Fatal(err)
	}
	got := s.play(t, engine.Config{PoolMB: 300, Scaler: coldstart.Scaler{}, Evictor: e}, 3)
	wantText(t, got, `      0s  start f0 as s0
     1ms  start f0 as s1
   200ms  run r0 on s0 cold wait 200ms
   201ms  run r1 on s1 cold wait 200ms
      5s  start f1 as s2
    5.2s  run r2 on s2 cold wait 200ms
     10s  destroy s0: pressure
     10s  start f2 as s0
   10.2s  run r3 on s0 cold wait 200ms
     20s  run r4 on s1 warm wait 0s
     30s  run r5 on s2 warm wait 0s
    1m0s  run r6 on s1 warm wait 0s
`)
}

// A cold start takes 200 ms. At 1.1 s the sandbox is through in 150 ms: wait.
// At 1.15 s it is through in 100 ms + 80 ms: wait. At 1.16 s in 170 + 120 ms:
// start.
func TestScalerComparesExactTimes(t *testing.T) {
	s := &script{calls: []call{{0, 0, ms}, {sec, 0, 250 * ms}, {1100 * ms, 0, 80 * ms}, {1150 * ms, 0, 120 * ms}, {1160 * ms, 0, ms}}}
	sc, err := offline.NewScaler(s, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := s.play(t, engine.Config{PoolMB: 1000, Scaler: sc, Evictor: &lru.LRU{}}, 1)
	wantText(t, got, `      0s  start f0 as s0
   200ms  run r0 on s0 cold wait 200ms
      1s  run r1 on s0 warm wait 0s
   1.16s  start f0 as s1
   1.25s  run r2 on s0 delayed wait 150ms
   1.33s  run r3 on s0 delayed wait 180ms
   1.36s  run r4 on s1 cold wait 200ms
`)
}

func TestNoOracle(t *testing.T) {
	if _, err := offline.NewBelady(nil); !errors.Is(err, offline.ErrNoOracle) {
		t.Errorf("evictor: %v", err)
	}
	if _, err := offline.NewScaler(nil, 0); !errors.Is(err, offline.ErrNoOracle) {
		t.Errorf("scaler: %v", err)
	}
}
