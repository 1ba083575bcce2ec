package icebreaker

import "math"

// forecaster predicts the next value of a series. It reuses its memory.
type forecaster struct {
	harmonics int
	residual  []float64
	cos, sin  []float64 // of 2 pi i / n
	power     []float64 // by frequency
	next      []float64 // by frequency: what the harmonic is worth at n
}

// minHistory is the shortest series that is extrapolated.
const minHistory = 4

// predict returns the forecast of y[len(y)], within 0 and the largest of y.
func (f *forecaster) predict(y []float64) float64 {
	n := len(y)
	if n == 0 {
		return 0
	}
	if n < minHistory {
		return y[n-1]
	}
	top := 0.0
	for _, v := range y {
		top = max(top, v)
	}
	return min(max(f.trend(y)+f.season(), 0), top)
}

// trend fits a + b u + c (u^2 - m) by least squares, with u counted from the
// middle so that the three are orthogonal, leaves the residual and returns the
// value one step ahead.
func (f *forecaster) trend(y []float64) float64 {
	n := len(y)
	mid := float64(n-1) / 2
	var m, sum float64
	for i, v := range y {
		u := float64(i) - mid
		m += u * u / float64(n)
		sum += v
	}
	var su, suu, sq, sqq float64
	for i, v := range y {
		u := float64(i) - mid
		q := u*u - m
		su, suu = su+u*v, suu+u*u
		sq, sqq = sq+q*v, sqq+q*q
	}
	a, b, c := sum/float64(n), su/suu, sq/sqq
	at := func(u float64) float64 { return a + b*u + c*(u*u-m) }
	f.residual = f.residual[:0]
	for i, v := range y {
		f.residual = append(f.residual, v-at(float64(i)-mid))
	}
	return at(float64(n) - mid)
}

// season returns what the strongest harmonics of the residual are worth one
// step after its end. At i = n every harmonic of n points is where it was at
// i = 0, so that is its real part.
func (f *forecaster) season() float64 {
	n := len(f.residual)
	f.table(n)
	f.power, f.next = f.power[:0], f.next[:0]
	for k := 1; k <= n/2; k++ {
		var re, im float64
		for i, j := 0, 0; i < n; i++ {
			re += f.residual[i] * f.cos[j]
			im -= f.residual[i] * f.sin[j]
			if j += k; j >= n {
				j -= n
			}
		}
		weight := 2 / float64(n)
		if 2*k == n {
			weight = 1 / float64(n)
		}
		f.power = append(f.power, weight*math.Hypot(re, im))
		f.next = append(f.next, weight*re)
	}
	return f.strongest()
}

// strongest sums the harmonics with the largest amplitude; ties go to the
// lower frequency.
func (f *forecaster) strongest() (sum float64) {
	for range min(f.harmonics, len(f.power)) {
		best := 0
		for k, p := range f.power {
			if p > f.power[best] {
				best = k
			}
		}
		sum += f.next[best]
		f.power[best] = -1
	}
	return sum
}

func (f *forecaster) table(n int) {
	if len(f.cos) == n {
		return
	}
	f.cos, f.sin = f.cos[:0], f.sin[:0]
	for i := range n {
		s, c := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		f.cos, f.sin = append(f.cos, c), append(f.sin, s)
	}
}
