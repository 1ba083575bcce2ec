package knative_test

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
	"github.com/open-lambda/open-lambda/policies/knative"
)

func harness(t *testing.T, scaler policies.Scaler) *enginetest.Harness {
	t.Helper()
	p, err := knative.New(knative.Default())
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.New(t, engine.Config{PoolMB: 1000, Scaler: scaler, Evictor: p, Prewarmer: p},
		enginetest.Fn{Spec: policies.Spec{MB: 100, Slots: 1, ColdEst: time.Second}, Cold: time.Second})
}

func check(t *testing.T, h *enginetest.Harness, want string) {
	t.Helper()
	if got := h.Transcript(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Three calls of 4 s at once. The activator pokes for the first sandbox; at
// the tick at 2 s the mean concurrency is 3, a panic: two more. It ends with
// the tick after 62 s; one is left until the stable window is empty, at 68 s.
func TestQueueWaitsForTheAutoscaler(t *testing.T) {
	h := harness(t, knative.Queue{})
	for range 3 {
		h.Arrive(0, 0, 4*time.Second)
	}
	h.Run(90 * time.Second)
	check(t, h, `      0s  start f0 as s0
      1s  run r0 on s0 cold wait 1s
      2s  start f0 as s1
      2s  start f0 as s2
      3s  run r1 on s1 delayed wait 3s
      3s  run r2 on s2 delayed wait 3s
    1m4s  destroy s0: expired
    1m4s  destroy s1: expired
    1m8s  destroy s2: expired
`)
}

// With starts of their own the three need no autoscaler; it only ends them.
func TestBoundRequests(t *testing.T) {
	h := harness(t, coldstart.Scaler{})
	for range 3 {
		h.Arrive(0, 0, 4*time.Second)
	}
	h.Run(5 * time.Second)
	check(t, h, `      0s  start f0 as s0
      0s  start f0 as s1
      0s  start f0 as s2
      1s  run r0 on s0 cold wait 1s
      1s  run r1 on s1 cold wait 1s
      1s  run r2 on s2 cold wait 1s
`)
}
