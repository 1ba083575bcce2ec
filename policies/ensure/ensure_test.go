package ensure_test

import (
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
	"github.com/open-lambda/open-lambda/policies/ensure"
)

func TestTarget(t *testing.T) {
	for load, want := range map[float64]int{
		0: 0, 0.009: 0, 0.01: 1, 0.25: 1, 0.5: 2, // 0.5 + 0.707
		1: 2, 4: 6, 4.1: 7, 100: 110,
	} {
		if got := ensure.Target(load); got != want {
			t.Errorf("R = %v: %d sandboxes, want %d", load, got, want)
		}
	}
}

// Ten calls a second of 200 ms for two minutes: R tends to 10 * 0.2 = 2 times
// 1 - e^-2, n = ceil(1.73 + 1.32) = 4. Half a minute later, R = 1.05: n = 3.
func TestFollowsTheLoad(t *testing.T) {
	p, err := ensure.New(ensure.Default())
	if err != nil {
		t.Fatal(err)
	}
	h := enginetest.New(t, engine.Config{PoolMB: 1000, Scaler: coldstart.Scaler{}, Evictor: p, Prewarmer: p},
		enginetest.Fn{Spec: policies.Spec{MB: 100, Slots: 1, ColdEst: time.Second}, Cold: time.Second})
	h.NoCheck = true
	for i := range 1200 {
		h.Arrive(time.Duration(i)*100*time.Millisecond, 0, 200*time.Millisecond)
	}
	live := func() int { return liveOf(h) }
	h.Run(119 * time.Second)
	if n := live(); n < 4 {
		t.Errorf("%d sandboxes under load, want at least 4", n)
	}
	h.Run(205 * time.Second) // all idle for over a minute; R = 1.73 e^-1.4 = 0.43, n = 2
	if n := live(); n != 2 {
		t.Errorf("%d sandboxes 85 s later, want 2", n)
	}
	h.Run(30 * time.Minute)
	if n := live(); n != 0 {
		t.Errorf("%d sandboxes after half an hour of nothing", n)
	}
}

func liveOf(h *enginetest.Harness) int {
	text := h.Transcript()
	return strings.Count(text, "start f") - strings.Count(text, "destroy s")
}

func TestValidate(t *testing.T) {
	for _, cfg := range []ensure.Config{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}} {
		if _, err := ensure.New(cfg); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
}
