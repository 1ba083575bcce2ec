package repro

import (
	"math"
	"slices"
	"sort"
)

// Samples are measured values, each of them counted: a share of them is exact.
// The zero value has none.
type Samples struct {
	values []float64 // ascending, each once
	upTo   []int     // how many samples are at most the value there
}

// newSamples sorts the values.
func newSamples(all []float64) Samples {
	slices.Sort(all)
	var s Samples
	for i, v := range all {
		if i+1 == len(all) || all[i+1] != v {
			s.values, s.upTo = append(s.values, v), append(s.upTo, i+1)
		}
	}
	return s
}

// n is how many there are.
func (s Samples) n() int {
	if len(s.upTo) == 0 {
		return 0
	}
	return s.upTo[len(s.upTo)-1]
}

// Share returns the share of samples that are at most v; NaN of no samples.
func (s Samples) Share(v float64) float64 {
	if s.n() == 0 {
		return math.NaN()
	}
	i := sort.Search(len(s.values), func(i int) bool { return s.values[i] > v })
	if i == 0 {
		return 0
	}
	return float64(s.upTo[i-1]) / float64(s.n())
}

// At returns the sample at the quantile q, from 0 to 1; NaN of no samples.
func (s Samples) At(q float64) float64 {
	if s.n() == 0 {
		return math.NaN()
	}
	rank := int(math.Round(q * float64(s.n()-1)))
	return s.values[sort.SearchInts(s.upTo, rank+1)]
}

// Curve is their distribution.
func (s Samples) Curve() Curve {
	if s.n() == 0 {
		return nil
	}
	c := make(Curve, curveSteps+1)
	for i := range c {
		c[i] = s.At(float64(i) / curveSteps)
	}
	return c
}

// distance is the greatest difference of the shares of two at any value.
func (s Samples) distance(o Samples) float64 {
	most := 0.0
	for _, values := range [][]float64{s.values, o.values} {
		for _, v := range values {
			most = max(most, math.Abs(s.Share(v)-o.Share(v)))
		}
	}
	return most
}
