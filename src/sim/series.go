package sim

import "time"

// series is memory over time: the mean of each of at most maxBuckets slices of
// equal width. When they run out, neighbours merge and the width doubles.
type series struct {
	width time.Duration
	sum   []float64 // MB * s
}

const (
	maxBuckets  = 512
	firstBucket = time.Second
)

func (s *series) add(from, to time.Duration, mb int64) {
	if s.width == 0 {
		s.width = firstBucket
	}
	for from < to {
		for int(from/s.width) >= maxBuckets {
			s.merge()
		}
		i := int(from / s.width)
		for i >= len(s.sum) {
			s.sum = append(s.sum, 0)
		}
		end := min(to, time.Duration(i+1)*s.width)
		s.sum[i] += float64(mb) * (end - from).Seconds()
		from = end
	}
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
