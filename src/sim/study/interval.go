package study

import "math"

// Interval is a mean over seeds with its 95 % confidence interval by Student's
// t distribution: the mean is within Half of Mean. With one seed Half is 0 and
// says nothing: look at N.
type Interval struct {
	Mean float64 `json:"mean"`
	Half float64 `json:"half"`
	N    int     `json:"n"`
}

// NewInterval returns that of independent samples.
func NewInterval(samples []float64) Interval {
	n := len(samples)
	if n == 0 {
		return Interval{}
	}
	sum := 0.0
	for _, v := range samples {
		sum += v
	}
	mean := sum / float64(n)
	if n == 1 {
		return Interval{Mean: mean, N: 1}
	}
	squares := 0.0
	for _, v := range samples {
		squares += (v - mean) * (v - mean)
	}
	return Interval{mean, student(n-1) * math.Sqrt(squares/float64(n-1)/float64(n)), n}
}

// Below reports whether the interval lies wholly below the other one.
func (i Interval) Below(o Interval) bool { return i.Mean+i.Half < o.Mean-o.Half }

// student is the 97.5 % quantile of Student's t distribution.
func student(freedom int) float64 {
	table := [...]float64{
		12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
		2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
		2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
	}
	if freedom <= len(table) {
		return table[freedom-1]
	}
	// Within 0.001 beyond 30 degrees of freedom.
	return 1.960 + 2.4/float64(freedom)
}
