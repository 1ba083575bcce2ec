package stats

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

func TestDecay(t *testing.T) {
	const tau = 10 * time.Second
	var d Decay
	if d.Value(1, tau) != 0 || !math.IsInf(d.Log(), -1) {
		t.Error("an empty count is not 0")
	}
	start := policies.Time(time.Hour)
	d.Add(start, tau)
	d.Add(start.Add(tau), tau)
	// At start + 2 tau: e^-2 + e^-1 = 0.13534 + 0.36788.
	if got := d.Value(start.Add(2*tau), tau); math.Abs(got-0.50321) > 1e-5 {
		t.Errorf("got %v, want 0.50321", got)
	}
}

func TestDecayDoesNotOverflow(t *testing.T) {
	const tau = time.Second
	var d Decay
	for i := range 1000 {
		d.Add(policies.Time(i)*policies.Time(24*time.Hour), tau)
	}
	now := policies.Time(999) * policies.Time(24*time.Hour)
	if got := d.Value(now, tau); math.Abs(got-1) > 1e-6 {
		t.Errorf("after a thousand days: %v, want 1", got)
	}
}

func TestDecayOrderDoesNotChangeWithTime(t *testing.T) {
	const tau = time.Minute
	rng := rand.New(rand.NewPCG(1, 2))
	var a, b Decay
	now := policies.Time(1)
	for range 200 {
		now += policies.Time(rng.Int64N(int64(10 * time.Second)))
		if rng.IntN(2) == 0 {
			a.Add(now, tau)
		} else {
			b.Add(now, tau)
		}
		later := now.Add(time.Duration(rng.Int64N(int64(time.Minute))))
		if (a.Log() < b.Log()) != (a.Value(later, tau) < b.Value(later, tau)) {
			t.Fatal("the order of the logarithms is not that of the values")
		}
	}
}

func TestLogAdd(t *testing.T) {
	inf := math.Inf(-1)
	for _, c := range [][3]float64{
		{math.Log(2), math.Log(3), math.Log(5)},
		{0, 0, math.Ln2},
		{inf, 4, 4},
		{4, inf, 4},
		{inf, inf, inf},
		{1e6, 1e6, 1e6 + math.Ln2},
		{1e6, 0, 1e6},
	} {
		if got := LogAdd(c[0], c[1]); got != c[2] && math.Abs(got-c[2]) > 1e-9 {
			t.Errorf("LogAdd(%v, %v) = %v, want %v", c[0], c[1], got, c[2])
		}
	}
}

func TestLogSub(t *testing.T) {
	inf := math.Inf(-1)
	for _, c := range [][3]float64{
		{math.Log(5), math.Log(3), math.Log(2)},
		{4, inf, 4},
		{inf, inf, inf},
		{4, 4, inf},
		{4, 5, inf},
		{1e6 + math.Ln2, 1e6, 1e6},
	} {
		if got := LogSub(c[0], c[1]); got != c[2] && math.Abs(got-c[2]) > 1e-9 {
			t.Errorf("LogSub(%v, %v) = %v, want %v", c[0], c[1], got, c[2])
		}
	}
}
