package rainbowcake_test

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
	"github.com/open-lambda/open-lambda/policies/rainbowcake"
)

func harness(t *testing.T, poolMB int64, fns ...enginetest.Fn) *enginetest.Harness {
	t.Helper()
	p, err := rainbowcake.New(rainbowcake.Default())
	if err != nil {
		t.Fatal(err)
	}
	h := enginetest.New(t, engine.Config{PoolMB: poolMB, Scaler: coldstart.Scaler{}, Evictor: p, Prewarmer: p}, fns...)
	h.Reshape = func(a engine.Action) (time.Duration, int64) { return 10 * time.Millisecond, p.HeldMB(200, a.Form) }
	return h
}

func fn(layer policies.LayerID) enginetest.Fn {
	return enginetest.Fn{Spec: policies.Spec{MB: 200, Slots: 1, Layer: layer, ColdEst: time.Second}, Cold: time.Second}
}

func check(t *testing.T, h *enginetest.Harness, want string) {
	t.Helper()
	if got := h.Transcript(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// One sandbox goes down the layers, 600 s without history at each. Then the
// language layer of f0 serves f1, which has the same language, but not f2.
func TestDemotesAndReuses(t *testing.T) {
	h := harness(t, 1000, fn(1), fn(1), fn(2))
	h.Arrive(0, 0, time.Second)
	h.Run(2000 * time.Second)
	check(t, h, `      0s  start f0 as s0
      1s  run r0 on s0 cold wait 1s
   10m2s  reshape s0 to layer 1
20m2.01s  reshape s0 to layer 0
30m2.02s  destroy s0: expired
`)
	for caller, line := range map[policies.FuncID]string{
		1: "start f1 as s1 from s0", 2: "start f2 as s1",
	} {
		h := harness(t, 1000, fn(1), fn(1), fn(2))
		h.Arrive(0, 0, time.Second)
		h.Arrive(700*time.Second, caller, time.Second)
		h.Run(702 * time.Second)
		check(t, h, `      0s  start f0 as s0
      1s  run r0 on s0 cold wait 1s
   10m2s  reshape s0 to layer 1
  11m40s  `+line+`
  11m41s  run r1 on s1 cold wait 1s
`)
	}
}

// A bare layer serves anybody.
func TestBareServesAnybody(t *testing.T) {
	h := harness(t, 1000, fn(1), fn(2))
	h.Arrive(0, 0, time.Second)
	h.Arrive(1300*time.Second, 1, time.Second)
	h.Run(1302 * time.Second)
	check(t, h, `      0s  start f0 as s0
      1s  run r0 on s0 cold wait 1s
   10m2s  reshape s0 to layer 1
20m2.01s  reshape s0 to layer 0
  21m40s  start f1 as s1 from s0
  21m41s  run r1 on s1 cold wait 1s
`)
}

// Calls every 10 s: the quantile is 16.09 s after the last one. The only
// sandbox is busy then, so one is prewarmed.
func TestPrewarmsWhenNobodyIsIdle(t *testing.T) {
	h := harness(t, 1000, fn(1))
	h.Arrive(0, 0, time.Second)
	h.Arrive(10*time.Second, 0, 60*time.Second)
	h.Run(30 * time.Second)
	check(t, h, `      0s  start f0 as s0
      1s  run r0 on s0 cold wait 1s
     10s  run r1 on s0 warm wait 0s
26.094379124s  start f0 as s1
`)
}

// A mechanism without layers answers that the sandbox is full as before.
func TestRefusedDemotionDestroys(t *testing.T) {
	h := harness(t, 1000, fn(1))
	h.Reshape = nil
	h.Arrive(0, 0, time.Second)
	h.Plan(603*time.Second, engine.Event{Kind: engine.EvReshaped, Sandbox: 0, Form: policies.FormFull, MB: 200})
	h.Run(2000 * time.Second)
	check(t, h, `      0s  start f0 as s0
      1s  run r0 on s0 cold wait 1s
   10m2s  reshape s0 to layer 1
   20m3s  destroy s0: expired
`)
}
