package flame_test

import (
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
	"github.com/open-lambda/open-lambda/policies/flame"
)

// At 60 s with tau = 20 s: f0, five arrivals at 0 s, is worth 5 e^-3 = 0.249;
// f1, two arrivals at 20 s, 2 e^-2 = 0.271; f2, one at 55 s, 0.779. So the
// coldest is f0, though it was called most often. With tau = 200 s it is f2:
// 5 e^-0.3 = 3.70, 2 e^-0.2 = 1.64, e^-0.025 = 0.975.
func TestColdestFunctionGoesFirst(t *testing.T) {
	for tau, want := range map[time.Duration]string{20 * time.Second: "destroy s0", 200 * time.Second: "destroy s2"} {
		e, err := flame.New(tau)
		if err != nil {
			t.Fatal(err)
		}
		f := enginetest.Fn{Spec: policies.Spec{MB: 100, Slots: 1}, Cold: time.Millisecond}
		h := enginetest.New(t, engine.Config{PoolMB: 300, Scaler: coldstart.Scaler{}, Evictor: e}, f, f, f, f)
		for i, fn := range []policies.FuncID{0, 0, 0, 0, 0} {
			h.Arrive(time.Duration(i*10)*time.Millisecond, fn, time.Millisecond)
		}
		h.Arrive(20*time.Second, 1, time.Millisecond)
		h.Arrive(20*time.Second+10*time.Millisecond, 1, time.Millisecond)
		h.Arrive(55*time.Second, 2, time.Millisecond)
		h.Arrive(60*time.Second, 3, time.Millisecond)
		h.Run(70 * time.Second)
		if got := h.Transcript(); !strings.Contains(got, want) {
			t.Errorf("tau %v: want %s\n%s", tau, want, got)
		}
	}
	if _, err := flame.New(0); err == nil {
		t.Error("tau 0 is accepted")
	}
}
