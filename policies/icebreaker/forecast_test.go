package icebreaker

import (
	"math"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

func series(n int, f func(i float64) float64) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = f(float64(i))
	}
	return y
}

func TestPredict(t *testing.T) {
	wave := func(period float64) func(float64) float64 {
		return func(i float64) float64 { return 10 + 5*math.Cos(2*math.Pi*i/period) }
	}
	cases := []struct {
		name string
		y    []float64
		want float64
		tol  float64
	}{
		{"nothing", nil, 0, 0},
		{"too short: the last", []float64{1, 2, 7}, 7, 0},
		{"constant", series(10, func(float64) float64 { return 3 }), 3, 1e-9},
		{"falling line", series(10, func(i float64) float64 { return 20 - i }), 10, 1e-9},
		{"falling parabola", series(10, func(i float64) float64 { return 200 - i*i }), 100, 1e-9},
		{"never above the peak", series(10, func(i float64) float64 { return i }), 9, 0},
		{"never below 0", series(5, func(i float64) float64 { return 8 - 2*i }), 0, 0},
		// Twelve periods of ten minutes: the next minute is a peak, 15.
		{"wave", series(120, wave(10)), 15, 0.3},
		// Twelve periods and a half: a transform takes the history to repeat
		// from its beginning, a peak, while a valley follows. What comes out
		// is in between: the known weakness of the method.
		{"wave, other phase", series(125, wave(10)), 11, 0.1},
	}
	for _, c := range cases {
		f := forecaster{harmonics: 10}
		if got := f.predict(c.y); math.Abs(got-c.want) > c.tol {
			t.Errorf("%s: got %v, want %v within %v", c.name, got, c.want, c.tol)
		}
	}
}

// With all harmonics the residual comes back whole: the season one step after
// the end is what it was at the beginning.
func TestAllHarmonicsRepeatTheBeginning(t *testing.T) {
	for _, n := range []int{7, 8, 120} {
		f := forecaster{harmonics: n, residual: series(n, func(i float64) float64 { return math.Mod(i*i, 7) })}
		mean := 0.0
		for _, v := range f.residual {
			mean += v / float64(n)
		}
		if got := f.season(); math.Abs(got-(f.residual[0]-mean)) > 1e-9 {
			t.Errorf("n = %d: got %v, want %v", n, got, f.residual[0]-mean)
		}
	}
}

func TestForecasterDoesNotAllocate(t *testing.T) {
	f := forecaster{harmonics: 10}
	y := series(120, func(i float64) float64 { return i })
	f.predict(y)
	if n := testing.AllocsPerRun(10, func() { f.predict(y) }); n > 0 {
		t.Errorf("%.0f allocations per forecast", n)
	}
}

func TestUtility(t *testing.T) {
	view := &policies.Func{Spec: policies.Spec{MB: 100}, ColdNow: 300 * time.Millisecond}
	f := &function{execSum: 200 * time.Millisecond, execN: 2} // 100 ms
	// S = 300/400, C = 1, M = 1 - 100/400.
	if got, want := f.utility(view, 400), (0.75+1+0.75)/3; math.Abs(got-want) > 1e-12 {
		t.Errorf("got %v, want %v", got, want)
	}
	f.coldSum, f.coldN = time.Second, 10 // 100 ms, measured
	f.warmed, f.wasted = 4, 3
	// S = 100/200, C = 1/4, M = 0 for the largest.
	if got, want := f.utility(view, 100), (0.5+0.25+0)/3; math.Abs(got-want) > 1e-12 {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestBoundary(t *testing.T) {
	at := func(s float64) policies.Time { return policies.Time(s * float64(time.Second)) }
	for _, c := range []struct {
		fn        policies.FuncID
		now, want float64
	}{
		{0, 0.5, 60}, {0, 60, 120}, {0, 59.9, 60}, {5, 0.5, 5}, {5, 5, 65}, {65, 4, 5}, {59, 60, 119},
	} {
		if got := boundary(c.fn, at(c.now)); got != at(c.want) {
			t.Errorf("function %d at %v s: got %v s, want %v", c.fn, c.now, float64(got)/1e9, c.want)
		}
	}
}

func TestHistoryBeginsWithARequestAndIsBounded(t *testing.T) {
	f := &function{}
	for _, p := range []float64{0, 0, 3, 0, 4, 5} {
		f.push(p, 3)
	}
	if len(f.peaks) != 3 || f.peaks[0] != 0 || f.peaks[2] != 5 || f.total != 9 {
		t.Errorf("got %v, sum %v, want [0 4 5], 9", f.peaks, f.total)
	}
}
