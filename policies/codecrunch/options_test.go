package codecrunch

import (
	"math"
	"testing"
	"time"
)

func TestWithin(t *testing.T) {
	var g gaps
	for _, d := range []time.Duration{30 * time.Second, time.Minute, 90 * time.Second, 3 * time.Minute, 2 * time.Hour} {
		g.add(d)
	}
	// T = 1 min: 2 of 5; (30 + 60 + 3*60)/5 = 54 s. T = 2 min: 3 of 5; (180 +
	// 2*120)/5 = 84 s. T = 5 min: 4 of 5; (360 + 300)/5 = 132 s.
	for i, want := range [][2]float64{{0.4, 54}, {0.6, 84}, {0.8, 132}} {
		if p, held := g.within(i); math.Abs(p-want[0]) > 1e-12 || math.Abs(held-want[1]) > 1e-9 {
			t.Errorf("T = %v: got %v, %v, want %v", keeps()[i], p, held, want)
		}
	}
}

func TestChoose(t *testing.T) {
	m := time.Minute
	options := func() []option {
		return []option{
			{0, m, false, 10, 10},     // 1
			{0, 5 * m, false, 16, 20}, // 0.8
			{0, m, true, 8, 4},        // 2
			{1, m, false, 30, 20},     // 1.5
			{2, m, false, 1, 100},     // 0.01
		}
	}
	cases := []struct {
		budget float64
		want   [3]choice
	}{
		// 4 for the compressed one; 1 and then nothing else fits.
		{5, [3]choice{{m, true, 8, 4}}},
		// 4, 20: then 10 more of 0 costs 6: 30 are spent.
		{30, [3]choice{{m, false, 10, 10}, {m, false, 30, 20}}},
		// The longer keep-alive costs 10 more: 40.
		{45, [3]choice{{5 * m, false, 16, 20}, {m, false, 30, 20}}},
		{1000, [3]choice{{5 * m, false, 16, 20}, {m, false, 30, 20}, {m, false, 1, 100}}},
	}
	for _, c := range cases {
		var got [3]choice
		choose(options(), c.budget, got[:])
		if got != c.want {
			t.Errorf("budget %v: got %v, want %v", c.budget, got, c.want)
		}
	}
}
