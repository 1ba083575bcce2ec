package stats

import (
	"slices"
	"time"
)

// Recent holds the last samples of a quantity, in order of size, and answers
// what is expected of one that has lasted for a while. The zero value holds
// up to RecentLimit samples.
//
// Adding moves at most RecentLimit numbers (two copies of 2 KB at worst);
// the sums are renewed at the first question after it. Both are bounded, and a
// question alone costs O(log n).
type Recent struct {
	ring   []time.Duration // in order of age, oldest at next
	next   int
	sorted []time.Duration
	above  []time.Duration // above[i] is the sum of sorted[i:]
	stale  bool
}

// RecentLimit is the number of samples kept: enough that a mean is known to
// about a sixteenth of the spread, few enough to follow a change.
const RecentLimit = 256

// Len returns the number of samples.
func (r *Recent) Len() int { return len(r.sorted) }

// few is the room made for the first samples: most functions have few.
const few = 32

// grow makes room in all three slices by one allocation, twice at most.
func (r *Recent) grow() {
	n := few
	if cap(r.ring) == few {
		n = RecentLimit
	}
	room := make([]time.Duration, 3*n+1)
	r.ring = append(room[0:0:n], r.ring...)
	r.sorted = append(room[n:n:2*n], r.sorted...)
	r.above = append(room[2*n:2*n:3*n+1], r.above...)
}

// Add adds a sample; the oldest leaves if there are RecentLimit.
func (r *Recent) Add(v time.Duration) {
	if len(r.ring) == cap(r.ring) && len(r.ring) < RecentLimit {
		r.grow()
	}
	if len(r.ring) == RecentLimit {
		i, _ := slices.BinarySearch(r.sorted, r.ring[r.next])
		r.sorted = slices.Delete(r.sorted, i, i+1)
		r.ring[r.next] = v
		r.next = (r.next + 1) % RecentLimit
	} else {
		r.ring = append(r.ring, v)
	}
	i, _ := slices.BinarySearch(r.sorted, v)
	r.sorted = slices.Insert(r.sorted, i, v)
	r.stale = true
}

func (r *Recent) sums() {
	if !r.stale {
		return
	}
	r.stale = false
	for len(r.above) < len(r.sorted)+1 {
		r.above = append(r.above, 0)
	}
	r.above[len(r.sorted)] = 0
	for i := len(r.sorted) - 1; i >= 0; i-- {
		r.above[i] = r.above[i+1] + r.sorted[i]
	}
}

// Mean returns the mean, false without samples.
func (r *Recent) Mean() (time.Duration, bool) {
	if len(r.sorted) == 0 {
		return 0, false
	}
	r.sums()
	return r.above[0] / time.Duration(len(r.sorted)), true
}

// Median returns the median, the upper one of an even number, false without
// samples.
func (r *Recent) Median() (time.Duration, bool) {
	if len(r.sorted) == 0 {
		return 0, false
	}
	return r.sorted[len(r.sorted)/2], true
}

// Remaining returns E[X | X > elapsed] - elapsed over the samples. If none is
// longer it returns elapsed: what has outlasted everything seen is expected to
// last as long again. False without samples.
func (r *Recent) Remaining(elapsed time.Duration) (time.Duration, bool) {
	if len(r.sorted) == 0 {
		return 0, false
	}
	i, _ := slices.BinarySearch(r.sorted, elapsed+1) // the first that is longer
	n := len(r.sorted) - i
	if n == 0 {
		return elapsed, true
	}
	r.sums()
	return r.above[i]/time.Duration(n) - elapsed, true
}
