package stats

import (
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

// Median is the exact median of the samples of a sliding window of time. The
// zero value is not usable; see NewMedian.
//
// Two heaps hold the lower and the upper half of the samples, by their place
// in a ring that remembers their order of age; so a sample that leaves the
// window is found in O(1) and removed in O(log n).
type Median struct {
	window  time.Duration
	limit   int
	ring    []sample
	first   int // oldest sample in the ring
	n       int
	half    [2][]entry // low is a max-heap, high a min-heap
	quarter int        // the quartile asked for; 2 is the median
}

// entry is a sample in a heap. It repeats the value, so that comparing two
// does not look them up in the ring.
type entry struct {
	value time.Duration
	i     int32 // place in the ring
}

type sample struct {
	at   policies.Time
	pos  int32 // index in its heap
	high bool
}

// DefaultLimit is the number of samples beyond which the oldest leave a
// window early: it bounds the memory of one busy function to about 2 MB.
const DefaultLimit = 1 << 16

// NewMedian returns an empty window of the given length of time; limit is the
// most samples that it keeps, DefaultLimit if it is 0.
func NewMedian(window time.Duration, limit int) *Median {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Median{window: window, limit: limit, quarter: 2}
}

// NewQuartile is NewMedian for another quartile: Value then returns the least
// sample below which, itself included, at least quarter fourths of all lie.
// quarter is 1, 2 (which is the median) or 3.
func NewQuartile(quarter int, window time.Duration, limit int) *Median {
	m := NewMedian(window, limit)
	m.quarter = quarter
	return m
}

// lower is the length that the lower half should have.
func (m *Median) lower() int {
	return (m.quarter*(len(m.half[0])+len(m.half[1])) + 3) / 4
}

// Len returns the number of samples held, those included that have left the
// window since the last call with a time.
func (m *Median) Len() int { return m.n }

// Add adds a sample that was taken at the given time. Times must not fall.
func (m *Median) Add(now policies.Time, v time.Duration) {
	for m.n > 1 && m.expired(m.after(m.first), now) {
		m.dropOldest()
	}
	if m.n > 0 && (m.n == m.limit || m.expired(m.first, now)) {
		m.replaceOldest(now, v)
		return
	}
	if m.n == len(m.ring) {
		m.grow()
	}
	i := int32((m.first + m.n) % len(m.ring))
	m.n++
	m.ring[i].at = now
	m.push(entry{v, i}, m.belongsHigh(v))
	m.balance(slack)
}

// belongsHigh chooses the half for a value: no value of the lower half may
// exceed one of the upper half.
func (m *Median) belongsHigh(v time.Duration) bool {
	if len(m.half[0]) > 0 {
		return v > m.half[0][0].value
	}
	return len(m.half[1]) > 0 && v > m.half[1][0].value
}

// expired reports whether the sample at a place has left the window.
func (m *Median) expired(place int, now policies.Time) bool {
	return now.Sub(m.ring[place].at) > m.window
}

// after returns the place after a place.
func (m *Median) after(place int) int {
	if place++; place < len(m.ring) {
		return place
	}
	return 0
}

// replaceOldest lets a new sample take the oldest one's place in the heaps. In
// a window that is full that is one short sift instead of a removal, an
// insertion and their balancing. If the new sample belongs to the other half
// it is at the root of its own after the sift, and the roots change places.
func (m *Median) replaceOldest(now policies.Time, v time.Duration) {
	old := m.ring[m.first]
	m.first = m.after(m.first)
	i := int32((m.first + m.n - 1) % len(m.ring))
	m.ring[i].at = now
	m.fix(old.high, int(old.pos), entry{v, i})
	if len(m.half[0]) == 0 || len(m.half[1]) == 0 || m.half[0][0].value <= m.half[1][0].value {
		return
	}
	low, high := m.half[0][0], m.half[1][0]
	m.down(false, 0, high)
	m.down(true, 0, low)
}

// Drop forgets the samples older than the window.
func (m *Median) Drop(now policies.Time) {
	for m.n > 0 && m.expired(m.first, now) {
		m.dropOldest()
	}
}

// Value returns the median at the given time, false without samples. With an
// even number of samples it is the mean of the two in the middle.
func (m *Median) Value(now policies.Time) (time.Duration, bool) {
	m.Drop(now)
	if m.n == 0 {
		return 0, false
	}
	m.balance(0)
	low := m.half[0][0].value
	if m.n%2 == 1 || m.quarter != 2 {
		return low, true
	}
	return low + (m.half[1][0].value-low)/2, true
}

func (m *Median) grow() {
	old := m.ring
	m.ring = make([]sample, max(8, min(2*len(old), m.limit)))
	// Places change: the samples move to the front in order of age.
	for i := range m.n {
		m.ring[i] = old[(m.first+i)%len(old)]
		s := m.ring[i]
		m.half[side(s.high)][s.pos].i = int32(i)
	}
	m.first = 0
}

func side(high bool) int {
	if high {
		return 1
	}
	return 0
}

func (m *Median) dropOldest() {
	m.remove(int32(m.first))
	m.first = m.after(m.first)
	m.n--
	m.balance(slack)
}

// slack is how much longer one half may be than the other while nobody asks
// for the median: most of what comes and goes evens out by itself. It bounds
// what is left to do for whoever asks.
const slack = 16

// balance makes the lower half as long as it should be, give or take.
func (m *Median) balance(give int) {
	want := m.lower() // moving changes neither number nor want
	for len(m.half[0]) > want+give {
		m.move(false)
	}
	for len(m.half[0])+give < want {
		m.move(true)
	}
}

func (m *Median) move(fromHigh bool) {
	e := m.half[side(fromHigh)][0]
	m.remove(e.i)
	m.push(e, !fromHigh)
}

// before reports whether a belongs nearer to the root than b.
func before(high bool, a, b entry) bool {
	if high {
		return a.value < b.value
	}
	return a.value > b.value
}

func (m *Median) put(high bool, pos int, e entry) {
	m.half[side(high)][pos] = e
	s := &m.ring[e.i]
	s.pos, s.high = int32(pos), high
}

func (m *Median) push(e entry, high bool) {
	h := &m.half[side(high)]
	*h = append(*h, e)
	m.up(high, len(*h)-1, e)
}

func (m *Median) remove(i int32) {
	high, pos := m.ring[i].high, int(m.ring[i].pos)
	h := &m.half[side(high)]
	last := len(*h) - 1
	moved := (*h)[last]
	*h = (*h)[:last]
	if pos != last {
		m.fix(high, pos, moved)
	}
}

// fix puts an entry where another one was, and sifts it to its place.
func (m *Median) fix(high bool, pos int, e entry) {
	if !m.up(high, pos, e) {
		m.down(high, pos, e)
	}
}

func (m *Median) up(high bool, pos int, e entry) (moved bool) {
	h := m.half[side(high)]
	for pos > 0 {
		p := (pos - 1) / 2
		if !before(high, e, h[p]) {
			break
		}
		m.put(high, pos, h[p])
		pos, moved = p, true
	}
	m.put(high, pos, e)
	return moved
}

func (m *Median) down(high bool, pos int, e entry) {
	h := m.half[side(high)]
	for {
		c := 2*pos + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && before(high, h[c+1], h[c]) {
			c++
		}
		if !before(high, h[c], e) {
			break
		}
		m.put(high, pos, h[c])
		pos = c
	}
	m.put(high, pos, e)
}
