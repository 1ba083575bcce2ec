package repro

import "math"

// Curve is a distribution by its quantiles at 0, 0.5, 1, ... 100 %, ascending, to
// be drawn and to read quantiles from; shares are counted from Samples.
// The zero value is that of no samples.
type Curve []float64

const curveSteps = 200

// newCurve sorts the samples.
func newCurve(samples []float64) Curve { return newSamples(samples).Curve() }

// At returns the quantile q, from 0 to 1; NaN of no samples.
func (c Curve) At(q float64) float64 {
	if len(c) == 0 {
		return math.NaN()
	}
	at := min(max(q, 0), 1) * curveSteps
	i := min(int(at), curveSteps-1)
	return c[i] + (at-float64(i))*(c[i+1]-c[i])
}

// meanCurve averages curves quantile by quantile; those of no samples do not count.
func meanCurve(all []Curve) Curve {
	var sum Curve
	n := 0
	for _, c := range all {
		if len(c) == 0 {
			continue
		}
		if sum == nil {
			sum = make(Curve, len(c))
		}
		n++
		for i, v := range c {
			sum[i] += v
		}
	}
	for i := range sum {
		sum[i] /= float64(n)
	}
	return sum
}

// crossing returns the first value, going up, from which on less of a than of b
// is at or below it, and the share there, between the steps of the curves: left of it
// a is the sooner one. If a stays ahead everywhere the share is 1.
func crossing(a, b Curve) (at, share float64) {
	if len(a) == 0 || len(b) == 0 {
		return math.NaN(), math.NaN()
	}
	for i := 1; i < len(a); i++ {
		if ahead, behind := max(b[i-1]-a[i-1], 0), a[i]-b[i]; behind > 0 {
			part := ahead / (ahead + behind)
			return a[i-1] + part*(a[i]-a[i-1]), (float64(i-1) + part) / curveSteps
		}
	}
	return a[len(a)-1], 1
}
