package stats

import (
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

// Mean is the mean of the samples of a sliding window of time. The zero value
// is not usable; see NewMean.
type Mean struct {
	window time.Duration
	limit  int
	ring   []timed
	first  int // oldest
	n      int
	sum    time.Duration
}

type timed struct {
	at policies.Time
	v  time.Duration
}

// NewMean returns an empty window; limit is as for NewMedian.
func NewMean(window time.Duration, limit int) *Mean {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Mean{window: window, limit: limit}
}

// Add adds a sample that was taken at the given time. Times must not fall.
func (m *Mean) Add(now policies.Time, v time.Duration) {
	m.drop(now)
	if m.n == m.limit {
		m.dropOldest()
	}
	if m.n == len(m.ring) {
		grown := make([]timed, max(8, min(2*m.n, m.limit)))
		for i := range m.n {
			grown[i] = m.ring[(m.first+i)%m.n]
		}
		m.ring, m.first = grown, 0
	}
	m.ring[(m.first+m.n)%len(m.ring)] = timed{now, v}
	m.n++
	m.sum += v
}

// Value returns the mean at the given time, false without samples.
func (m *Mean) Value(now policies.Time) (time.Duration, bool) {
	m.drop(now)
	if m.n == 0 {
		return 0, false
	}
	return m.sum / time.Duration(m.n), true
}

func (m *Mean) drop(now policies.Time) {
	for m.n > 0 && now.Sub(m.ring[m.first].at) > m.window {
		m.dropOldest()
	}
}

func (m *Mean) dropOldest() {
	m.sum -= m.ring[m.first].v
	m.first = (m.first + 1) % len(m.ring)
	m.n--
}
