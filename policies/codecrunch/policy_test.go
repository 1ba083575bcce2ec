package codecrunch_test

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/codecrunch"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
)

func harness(t *testing.T, cfg codecrunch.Config) *enginetest.Harness {
	t.Helper()
	p, err := codecrunch.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	h := enginetest.New(t, engine.Config{PoolMB: 1000, Scaler: coldstart.Scaler{}, Evictor: p, Prewarmer: p},
		enginetest.Fn{Spec: policies.Spec{MB: 100, Slots: 1, ColdEst: time.Second}, Cold: time.Second})
	h.Reshape = func(a engine.Action) (time.Duration, int64) { return 100 * time.Millisecond, p.HeldMB(100, a.Form) }
	for i := range 6 {
		h.Arrive(time.Duration(i*45)*time.Second, 0, time.Second)
	}
	h.Run(10 * time.Minute)
	return h
}

func check(t *testing.T, h *enginetest.Harness, want string) {
	t.Helper()
	if got := h.Transcript(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Gaps of 45 s, cold 1 s, 100 MB: full is worth 1000 ms and costs 4,500 MB*s,
// compressed 960 ms and 1,800. The choices are made on the minute; from the
// fourth call on there are three gaps, at 180 s it is chosen.
func TestBudgetDecidesAboutCompression(t *testing.T) {
	begin := `      0s  start f0 as s0
      1s  run r0 on s0 cold wait 1s
     45s  run r1 on s0 warm wait 0s
   1m30s  run r2 on s0 warm wait 0s
   2m15s  run r3 on s0 warm wait 0s
`
	// Plenty: kept full for a minute, the shortest that is worth as much.
	check(t, harness(t, codecrunch.Default()), begin+`    3m0s  run r4 on s0 warm wait 0s
   3m45s  run r5 on s0 warm wait 0s
   4m46s  destroy s0: expired
`)
	// 4 calls in 3 minutes are 3 gaps: 1 a minute, 1,800 or 4,500 MB*s. The
	// budget of 0.05 is 3,000.
	tight := codecrunch.Default()
	tight.Budget = 0.05
	check(t, harness(t, tight), begin+`    3m0s  run r4 on s0 warm wait 0s
    3m1s  reshape s0 to shrunk
   3m45s  start f0 as s1 from s0
   3m46s  run r5 on s1 cold wait 1s
   3m47s  reshape s1 to shrunk
   4m47s  destroy s1: expired
`)
	// Nothing fits: sandboxes go as soon as they are idle.
	none := codecrunch.Default()
	none.Budget = 0.01
	check(t, harness(t, none), begin+`    3m0s  run r4 on s0 warm wait 0s
    3m1s  destroy s0: expired
   3m45s  start f0 as s0
   3m46s  run r5 on s0 cold wait 1s
   3m47s  destroy s0: expired
`)
}

func TestShapes(t *testing.T) {
	p, err := codecrunch.New(codecrunch.Default())
	if err != nil {
		t.Fatal(err)
	}
	if mb := p.HeldMB(250, policies.FormShrunk); mb != 100 {
		t.Errorf("250 MB are compressed to %d, want 100", mb)
	}
	if d := p.ColdFrom(250, time.Second, policies.FormShrunk); d != 100*time.Millisecond {
		t.Errorf("250 MB are restored in %v, want 100ms", d)
	}
	if d := p.ColdFrom(250, 50*time.Millisecond, policies.FormShrunk); d != 50*time.Millisecond {
		t.Errorf("restored in %v: longer than a cold start", d)
	}
	for _, cfg := range []codecrunch.Config{
		{Ratio: 0, Budget: 1, ColdPerMB: 1},
		{Ratio: 2, Budget: 1, ColdPerMB: 1},
		{Ratio: 1, Budget: 0, ColdPerMB: 1},
		{Ratio: 1, Budget: 1},
		{Ratio: 1, Budget: 1, ColdPerMB: 1, RestorePerMB: -1},
	} {
		if _, err := codecrunch.New(cfg); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
}
