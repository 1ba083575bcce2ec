package lfu_test

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
	"github.com/open-lambda/open-lambda/policies/lfu"
)

func TestLeastInvokedFunctionGoesFirst(t *testing.T) {
	f := enginetest.Fn{Spec: policies.Spec{MB: 100, Slots: 1}, Cold: 100 * time.Millisecond}
	h := enginetest.New(t, engine.Config{PoolMB: 300, Scaler: coldstart.Scaler{}, Evictor: &lfu.LFU{}}, f, f, f, f)
	at := func(s int, fn policies.FuncID) { h.Arrive(time.Duration(s)*time.Second, fn, time.Millisecond) }
	at(0, 0)
	at(1, 0)
	at(2, 1) // f1 once, and used before f2
	at(3, 2)
	at(4, 2)
	at(5, 2)
	at(6, 3) // evicts f1's
	at(7, 1) // its history counts on: f1 twice, f3 once: evicts f3's
	at(8, 3) // f0 and f1 twice, f0 used before: evicts f0's
	h.Run(10 * time.Second)
	want := `      0s  start f0 as s0
   100ms  run r0 on s0 cold wait 100ms
      1s  run r1 on s0 warm wait 0s
      2s  start f1 as s1
    2.1s  run r2 on s1 cold wait 100ms
      3s  start f2 as s2
    3.1s  run r3 on s2 cold wait 100ms
      4s  run r4 on s2 warm wait 0s
      5s  run r5 on s2 warm wait 0s
      6s  destroy s1: pressure
      6s  start f3 as s1
    6.1s  run r6 on s1 cold wait 100ms
      7s  destroy s1: pressure
      7s  start f1 as s1
    7.1s  run r7 on s1 cold wait 100ms
      8s  destroy s0: pressure
      8s  start f3 as s0
    8.1s  run r8 on s0 cold wait 100ms
`
	if got := h.Transcript(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
