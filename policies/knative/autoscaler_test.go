package knative

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

const s = policies.Time(time.Second)

func TestDecide(t *testing.T) {
	cfg := Default()
	cases := []struct {
		name          string
		stable, short float64
		ready         int
		want          int
		panics        bool
	}{
		{"nothing", 0, 0, 0, 0, false},
		{"one", 0.3, 0.3, 1, 1, false},
		{"rounded up", 2.1, 3, 2, 3, false},
		{"at most halved", 0, 0, 9, 4, false},
		{"the last one goes", 0, 0, 1, 0, false},
		{"panic at twice", 1, 4, 2, 4, true},
		{"no panic below", 1, 3, 2, 1, false},
		{"panic from nothing", 1, 2, 0, 2, true},
		{"scale-up rate", 2000, 1, 1, 1000, false},
	}
	for _, c := range cases {
		f := &scaler{}
		f.decide(&cfg, 100*s, c.stable, c.short, c.ready)
		if f.desired != c.want || (f.panicAt != policies.Never) != c.panics {
			t.Errorf("%s: desired %d, panic since %v, want %d, %v", c.name, f.desired, f.panicAt, c.want, c.panics)
		}
	}
}

func TestPanicDoesNotScaleDown(t *testing.T) {
	cfg := Default()
	f := &scaler{}
	f.decide(&cfg, 100*s, 1, 8, 2) // panic: 8
	f.decide(&cfg, 102*s, 1, 5, 2) // over still, at 5 of 2
	f.decide(&cfg, 104*s, 1, 0, 8) // calm
	if f.desired != 8 {
		t.Errorf("desired %d in the panic, want 8", f.desired)
	}
	f.decide(&cfg, 162*s, 1, 0, 8) // 60 s after the last moment over
	if f.desired != 8 {
		t.Errorf("desired %d at the end of the window, want 8", f.desired)
	}
	f.decide(&cfg, 164*s, 1, 0, 8)
	if f.desired != 4 {
		t.Errorf("desired %d after the panic, want 8/2", f.desired)
	}
}

// One request in flight from 1 s to 4 s, ticks at 2, 4, 6, ...: 1, 2, 0 and so
// on request-seconds. The windows hold the last 30 and 3 ticks.
func TestWindowsAreExact(t *testing.T) {
	cfg := Default()
	f := &scaler{since: 1}
	f.change(1*s, 1)
	f.tick(&cfg, 2*s, 1)
	if f.sums != [2]int64{1e9, 1e9} {
		t.Errorf("after one tick: %v", f.sums)
	}
	f.change(4*s, 0)
	f.tick(&cfg, 4*s, 1)
	f.tick(&cfg, 6*s, 1)
	if f.sums != [2]int64{3e9, 3e9} {
		t.Errorf("after three ticks: %v", f.sums)
	}
	f.tick(&cfg, 8*s, 1)
	if f.sums != [2]int64{3e9, 2e9} {
		t.Errorf("after four ticks: %v", f.sums)
	}
	for i := policies.Time(5); i <= 30; i++ {
		f.tick(&cfg, 2*i*s, 1)
	}
	if f.sums != [2]int64{3e9, 0} {
		t.Errorf("after thirty ticks: %v", f.sums)
	}
	f.tick(&cfg, 62*s, 1)
	f.tick(&cfg, 64*s, 1)
	if f.sums != [2]int64{} || f.desired != 0 || !f.asleep() {
		t.Errorf("after a minute of nothing: %v, desired %d", f.sums, f.desired)
	}
}

func TestEqualWindows(t *testing.T) {
	cfg := Default()
	cfg.Stable, cfg.Panic = 4*time.Second, 4*time.Second
	f := &scaler{since: 1}
	f.change(1, 3)
	for i := policies.Time(1); i <= 9; i++ {
		f.tick(&cfg, 2*i*s, 3)
		if f.sums[0] != f.sums[1] {
			t.Fatalf("tick %d: %v differ", i, f.sums)
		}
	}
}

func TestValidate(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"tick": func(c *Config) { c.Tick = 0 }, "panic": func(c *Config) { c.Panic = time.Second },
		"stable": func(c *Config) { c.Stable = 5 * time.Second }, "multiple": func(c *Config) { c.Stable = 61 * time.Second },
		"threshold": func(c *Config) { c.Threshold = 1 }, "target": func(c *Config) { c.Target = 0 },
		"up": func(c *Config) { c.UpRate = 1 }, "down": func(c *Config) { c.DownRate = 0 },
	} {
		cfg := Default()
		change(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("a wrong %s is accepted", name)
		}
	}
}
