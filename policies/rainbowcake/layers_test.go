package rainbowcake

import (
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

func TestTTL(t *testing.T) {
	cfg := Default()
	s := time.Second
	cases := []struct {
		name  string
		mean  time.Duration
		known bool
		saves time.Duration
		mb    int64
		want  time.Duration
	}{
		{"no history", 0, false, s, 100, 600 * s},
		// -ln(0.2) * 100 s = 160.94 s; beta = 0.996 * 10 / (0.004 * 10) = 249 s.
		{"quantile", 100 * s, true, 10 * s, 10, 160943791243},
		// -ln(0.2) * 200 s = 321.9 s; beta = 249 s.
		{"beta", 200 * s, true, 10 * s, 10, 249 * s},
		// beta = 0.996 * 0.5 / (0.004 * 250) = 0.498 s, at least 60 s.
		{"shortest", 200 * s, true, 500 * time.Millisecond, 250, 60 * s},
		{"longest", 3600 * s, true, 100 * s, 1, 600 * s},
	}
	for _, c := range cases {
		got := cfg.ttl(c.mean, c.known, c.saves, c.mb)
		if d := got - c.want; d < -time.Microsecond || d > time.Microsecond {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestMeanOfTheLastSix(t *testing.T) {
	var a arrivals
	a.add(1)
	if _, ok := a.mean(); ok {
		t.Error("one arrival has a mean")
	}
	for _, at := range []policies.Time{1001, 1003, 1006, 1010, 1015, 1021} {
		a.add(at) // the first of them is the oldest of six
	}
	if got, _ := a.mean(); got != 4 {
		t.Errorf("got %d, want (1021 - 1001) / 5 = 4", got)
	}
}

func TestShapes(t *testing.T) {
	r, err := New(Default())
	if err != nil {
		t.Fatal(err)
	}
	for form, want := range map[policies.Form][2]int64{
		policies.FormFull: {200, 0}, Language: {120, 400}, Bare: {40, 800},
	} {
		mb, cold := r.HeldMB(200, form), r.ColdFrom(200, time.Second, form).Round(time.Microsecond)
		if mb != want[0] || cold.Milliseconds() != want[1] {
			t.Errorf("%v: %d MB and %v, want %d MB and %d ms", form, mb, cold, want[0], want[1])
		}
	}
}

func TestValidate(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"q": func(c *Config) { c.Quantile = 1 }, "alpha": func(c *Config) { c.Alpha = 0 },
		"min": func(c *Config) { c.Min = 0 }, "max": func(c *Config) { c.Max = time.Second },
		"fallback": func(c *Config) { c.Fallback = 0 }, "shares": func(c *Config) { c.LangShare = 0.9 },
	} {
		cfg := Default()
		change(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("a wrong %s is accepted", name)
		}
	}
}
