package sim

import "time"

// series is memory over time: the mean of each of at most maxBuckets slices of
// equal width. When they run out, neighbours merge and the width doubles.
type series struct {
	width time.Duration
	until time.Duration // end of the last slice
	sum   []float64     // MB * s
}

const (
	maxBuckets  = 512
	firstBucket = time.Second
)

// add accounts for the time between two moments, the first of which is where
// the last call ended, 0 at first.
func (s *series) add(from, to time.Duration, mb int64) {
	for to > s.until {
		if s.until > from {
			s.sum[len(s.sum)-1] += float64(mb) * (s.until - from).Seconds()
			from = s.until
		}
		s.open()
	}
	if to > from {
		s.sum[len(s.sum)-1] += float64(mb) * (to - from).Seconds()
	}
}

// open begins the next slice.
func (s *series) open() {
	if s.width == 0 {
		s.width = firstBucket
	}
	if len(s.sum) == maxBuckets {
		s.merge()
	}
	s.sum = append(s.sum, 0)
	s.until += s.width
}

func (s *series) merge() {
	half := (len(s.sum) + 1) / 2
	for i := range half {
		v := s.sum[2*i]
		if 2*i+1 < len(s.sum) {
			v += s.sum[2*i+1]
		}
		s.sum[i] = v
	}
	s.sum = s.sum[:half]
	s.width *= 2
}

// points returns the means; the last slice may be shorter than the width.
func (s *series) points(total time.Duration) []MemoryPoint {
	var all []MemoryPoint
	for i, sum := range s.sum {
		begin := time.Duration(i) * s.width
		if d := min(s.width, total-begin).Seconds(); d > 0 {
			all = append(all, MemoryPoint{Seconds: begin.Seconds(), MB: sum / d})
		}
	}
	return all
}
