package engine_test

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
)

const ms = time.Millisecond

// config makes an engine's configuration with a preset of the catalog.
func config(t testing.TB, preset string, poolMB int64) engine.Config {
	t.Helper()
	p, err := catalog.New(preset, "", "", catalog.Params{})
	if err != nil {
		t.Fatal(err)
	}
	return engine.Config{PoolMB: poolMB, Scaler: p.Scaler, Evictor: p.Evictor}
}

func fn(mb int64, cold time.Duration) enginetest.Fn {
	return enginetest.Fn{Spec: policies.Spec{Revision: 1, MB: mb, Slots: 1}, Cold: cold}
}

func TestPaperFigure4(t *testing.T) {
	// Section 2.3: R1 arrives while C0 is busy and is served by it, because
	// t_q < t_p; the sandbox started for it becomes idle.
	h := enginetest.New(t, config(t, "cidre-bss", 1000), fn(100, 200*ms))
	h.Arrive(0, 0, 100*ms)      // cold
	h.Arrive(310*ms, 0, 100*ms) // R0: warm
	h.Arrive(340*ms, 0, 100*ms) // R1: delayed, 70 ms
	h.Run(time.Second)
	want := `      0s  start f0 as s0
   200ms  run r0 on s0 cold wait 200ms
   310ms  run r1 on s0 warm wait 0s
   340ms  start f0 as s1
   410ms  run r2 on s0 delayed wait 70ms
`
	if got := h.Transcript(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
