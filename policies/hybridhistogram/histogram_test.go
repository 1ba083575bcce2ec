package hybridhistogram

import (
	"math"
	"testing"
	"time"
)

const m = time.Minute

func history10(cfg *Config, idle ...time.Duration) *history {
	h := &history{}
	for _, d := range idle {
		h.add(cfg, d)
	}
	return h
}

func repeat(n int, d time.Duration) []time.Duration {
	s := make([]time.Duration, n)
	for i := range s {
		s[i] = d
	}
	return s
}

func TestWindows(t *testing.T) {
	cfg := Default()
	spread := make([]time.Duration, 0, 240)
	for i := range 240 {
		spread = append(spread, time.Duration(i)*m)
	}
	cases := []struct {
		name string
		idle []time.Duration
		want window
	}{
		{"no history", nil, window{keep: 4 * time.Hour}},
		{"nine samples", repeat(9, 10*m), window{keep: 4 * time.Hour}},
		// Head is the lower edge of bin 10, tail its upper edge:
		// 10 * 0.9 = 9 min, 11 * 1.1 = 12.1 min.
		{"one bin", repeat(20, 10*m+30*time.Second), window{9 * m, 12*m + 6*time.Second}},
		{"first bin", repeat(20, 30*time.Second), window{0, m + 6*time.Second}},
		// Of 100 the 5th smallest is 2 min, the 99th 30 min: 1.8 and 34.1 min.
		{"quantiles", append(append(repeat(95, 2*m), repeat(4, 30*m)...), 100*m), window{108 * time.Second, 34*m + 6*time.Second}},
		// Every bin once: the coefficient of variation is 0.
		{"spread out", spread, window{keep: 4 * time.Hour}},
		// Mostly out of bounds, always 5 h: 0.85 * 5 h and 1.15 * 5 h.
		{"out of bounds", repeat(12, 5*time.Hour), window{255 * m, 345 * m}},
	}
	for _, c := range cases {
		if got := history10(&cfg, c.idle...).windows(&cfg); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestCoefficientOfVariation(t *testing.T) {
	cfg := Default()
	// One bin of 240 has 20: mean 20/240, E[x^2] 400/240, so
	// sqrt(1.66667 - 0.00694) / 0.08333 = 15.4596.
	if got := history10(&cfg, repeat(20, m)...).cv(); math.Abs(got-15.4596) > 1e-4 {
		t.Errorf("one bin: %v, want 15.4596", got)
	}
	// Two bins with 10 each: sqrt(200/240 - 0.00694) / 0.08333 = 10.9087.
	if got := history10(&cfg, append(repeat(10, m), repeat(10, 3*m)...)...).cv(); math.Abs(got-10.9087) > 1e-4 {
		t.Errorf("two bins: %v, want 10.9087", got)
	}
}

func TestForecast(t *testing.T) {
	h := time.Hour
	cases := []struct {
		name string
		idle []time.Duration
		want time.Duration
	}{
		{"two samples: their mean", []time.Duration{5 * h, 7 * h}, 6 * h},
		{"alternating", []time.Duration{5 * h, 7 * h, 5 * h, 7 * h, 5 * h}, 7 * h},
		// Pairs (5,6), (6,7), (7,8): x' = 1 + x.
		{"growing", []time.Duration{5 * h, 6 * h, 7 * h, 8 * h}, 9 * h},
		{"constant", []time.Duration{5 * h, 5 * h, 5 * h, 5 * h}, 5 * h},
		// Pairs (5,5), (5,20): no slope is determined: the mean.
		{"only one x", []time.Duration{5 * h, 5 * h, 20 * h}, 10 * h},
	}
	for _, c := range cases {
		cfg := Default()
		got := history10(&cfg, c.idle...).forecast()
		if d := got - c.want; d < -time.Second || d > time.Second {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
