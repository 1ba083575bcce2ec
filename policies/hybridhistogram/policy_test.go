package hybridhistogram_test

import (
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/policies/engine/enginetest"
	"github.com/open-lambda/open-lambda/policies/hybridhistogram"
)

// A function called every 10 min, give or take nothing, gets its sandbox
// destroyed at once and back 9 min later: from the 12th call on it is warm.
func TestPrewarmsBeforeTheNextCall(t *testing.T) {
	p, err := hybridhistogram.New(hybridhistogram.Default())
	if err != nil {
		t.Fatal(err)
	}
	h := enginetest.New(t, engine.Config{PoolMB: 1000, Scaler: coldstart.Scaler{}, Evictor: p, Prewarmer: p},
		enginetest.Fn{Spec: policies.Spec{MB: 100, Slots: 1}, Cold: time.Second})
	for i := range 14 {
		h.Arrive(time.Duration(i)*10*time.Minute, 0, 100*time.Millisecond)
	}
	h.Run(3 * time.Hour)
	// r10 is the 11th: with it there are 10 idle times. They are of
	// 10 min - 100 ms (9 min 58.9 s after the cold one), all in the bin of
	// 9 min, so prewarming comes 8.1 min after an end, the end 11 min after it.
	want := []string{
		"1h40m0s  run r10 on s0 warm",
		"1h40m0.1s  destroy s0: expired",
		"1h48m6.1s  start f0",
		"1h50m0s  run r11 on s0 warm",
		"1h50m0.1s  destroy s0: expired",
		"1h58m6.1s  start f0",
		"2h10m0s  run r13 on s0 warm",
		"2h10m0.1s  destroy s0: expired",
		"2h18m6.1s  start f0",
		"2h21m0.1s  destroy s0: expired", // nobody came
	}
	got := h.Transcript()
	for _, w := range want {
		at := strings.Index(got, w)
		if at < 0 {
			t.Fatalf("missing, in this order: %s\n%s", w, h.Transcript())
		}
		got = got[at:]
	}
}

// A call that comes early takes the alarm back.
func TestEarlyCallCancelsPrewarming(t *testing.T) {
	cfg := hybridhistogram.Default()
	cfg.MinSamples = 1
	p, err := hybridhistogram.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	h := enginetest.New(t, engine.Config{PoolMB: 1000, Scaler: coldstart.Scaler{}, Evictor: p, Prewarmer: p},
		enginetest.Fn{Spec: policies.Spec{MB: 100, Slots: 1}, Cold: time.Second})
	h.Arrive(0, 0, time.Second)
	h.Arrive(10*time.Minute, 0, time.Second)
	h.Arrive(12*time.Minute, 0, 30*time.Minute) // runs past every alarm
	h.Run(40 * time.Minute)
	if n := strings.Count(h.Transcript(), "start f0"); n != 2 {
		t.Errorf("%d starts, want those of the first and the third call\n%s", n, h.Transcript())
	}
}

func TestValidate(t *testing.T) {
	for name, change := range map[string]func(*hybridhistogram.Config){
		"bin":     func(c *hybridhistogram.Config) { c.Bin = 0 },
		"range":   func(c *hybridhistogram.Config) { c.Range = time.Second },
		"head":    func(c *hybridhistogram.Config) { c.Head = 1 },
		"tail":    func(c *hybridhistogram.Config) { c.Tail = 1.1 },
		"margin":  func(c *hybridhistogram.Config) { c.Margin = 1 },
		"cv":      func(c *hybridhistogram.Config) { c.CV = -1 },
		"samples": func(c *hybridhistogram.Config) { c.MinSamples = 0 },
		"fixed":   func(c *hybridhistogram.Config) { c.Fixed = 0 },
	} {
		cfg := hybridhistogram.Default()
		change(&cfg)
		if _, err := hybridhistogram.New(cfg); err == nil {
			t.Errorf("a wrong %s is accepted", name)
		}
	}
}
