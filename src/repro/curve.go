package repro

import (
	"math"
	"slices"
	"sort"
)

// Curve is a distribution by its quantiles at 0, 0.5, 1, ... 100 %, ascending.
// The zero value is that of no samples.
type Curve []float64

const curveSteps = 200

// newCurve sorts the samples.
func newCurve(samples []float64) Curve {
	if len(samples) == 0 {
		return nil
	}
	slices.Sort(samples)
	c := make(Curve, curveSteps+1)
	for i := range c {
		c[i] = samples[int(math.Round(float64(i)/curveSteps*float64(len(samples)-1)))]
	}
	return c
}

// At returns the quantile q, from 0 to 1; NaN of no samples.
func (c Curve) At(q float64) float64 {
	if len(c) == 0 {
		return math.NaN()
	}
	at := min(max(q, 0), 1) * curveSteps
	i := min(int(at), curveSteps-1)
	return c[i] + (at-float64(i))*(c[i+1]-c[i])
}

// Share returns the share of samples that are at most v; NaN of no samples.
func (c Curve) Share(v float64) float64 {
	if len(c) == 0 {
		return math.NaN()
	}
	i := sort.Search(len(c), func(i int) bool { return c[i] > v })
	switch {
	case i == 0:
		return 0
	case i == len(c):
		return 1
	}
	part := 0.0
	if c[i] > c[i-1] {
		part = (v - c[i-1]) / (c[i] - c[i-1])
	}
	return (float64(i-1) + part) / curveSteps
}

// meanCurve averages curves quantile by quantile.
func meanCurve(all []Curve) Curve {
	var sum Curve
	for _, c := range all {
		if len(c) == 0 {
			continue
		}
		if sum == nil {
			sum = make(Curve, len(c))
		}
		for i, v := range c {
			sum[i] += v / float64(len(all))
		}
	}
	return sum
}

// crossing returns the first value, going up, from which on less of a than of b
// is at or below it, and the share there: left of it a is the sooner one. If a
// stays ahead everywhere the share is 1.
func crossing(a, b Curve) (at, share float64) {
	if len(a) == 0 || len(b) == 0 {
		return math.NaN(), math.NaN()
	}
	for i := 1; i < len(a); i++ {
		if a[i] > b[i] {
			return a[i], float64(i) / curveSteps
		}
	}
	return a[len(a)-1], 1
}
