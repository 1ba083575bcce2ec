package trace

import "time"

// Percentiles describe a distribution of execution times by its values at the
// ranks 0, 1, 25, 50, 75, 99 and 100 %, ascending.
type Percentiles [7]time.Duration

// percentRanks are the ranks of Percentiles, as shares.
func percentRanks() [7]float64 { return [7]float64{0, 0.01, 0.25, 0.5, 0.75, 0.99, 1} }

// At is the piecewise-linear inverse of the distribution function: the value
// below which the share u of all values lies. u outside 0..1 is clipped.
func (p Percentiles) At(u float64) time.Duration {
	ranks := percentRanks()
	if u <= 0 {
		return p[0]
	}
	for i := 1; i < len(ranks); i++ {
		if u <= ranks[i] {
			share := (u - ranks[i-1]) / (ranks[i] - ranks[i-1])
			return p[i-1] + time.Duration(share*float64(p[i]-p[i-1]))
		}
	}
	return p[len(p)-1]
}

// Mean is that of the piecewise-linear distribution, with every value above
// limit counted as limit; a limit of 0 is none.
func (p Percentiles) Mean(limit time.Duration) time.Duration {
	// Exact within a piece but for the one that the limit cuts: that one is
	// split where it crosses.
	ranks := percentRanks()
	sum := 0.0
	for i := 1; i < len(p); i++ {
		low, high, width := float64(p[i-1]), float64(p[i]), ranks[i]-ranks[i-1]
		top := float64(limit)
		switch {
		case limit == 0 || high <= top:
			sum += width * (low + high) / 2
		case low >= top:
			sum += width * top
		default:
			below := (top - low) / (high - low)
			sum += width * (below*(low+top)/2 + (1-below)*top)
		}
	}
	return time.Duration(sum)
}
