package stats

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/open-lambda/open-lambda/policies"
)

// naive is the same window, sorted anew for every answer.
type naive struct {
	window time.Duration
	limit  int
	at     []policies.Time
	v      []time.Duration
}

func (n *naive) drop(now policies.Time) {
	for len(n.at) > 0 && now.Sub(n.at[0]) > n.window {
		n.at, n.v = n.at[1:], n.v[1:]
	}
}

func (n *naive) add(now policies.Time, v time.Duration) {
	n.drop(now)
	if len(n.at) == n.limit {
		n.at, n.v = n.at[1:], n.v[1:]
	}
	n.at, n.v = append(n.at, now), append(n.v, v)
}

func (n *naive) value(now policies.Time) (time.Duration, bool) {
	n.drop(now)
	if len(n.v) == 0 {
		return 0, false
	}
	s := slices.Sorted(slices.Values(n.v))
	low := s[(len(s)-1)/2]
	return low + (s[len(s)/2]-low)/2, true
}

func TestMedianAgainstSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		m, n := NewMedian(100, limit), &naive{window: 100, limit: limit}
		now := policies.Time(1)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += policies.Time(rapid.IntRange(0, 30).Draw(t, "gap"))
			v := time.Duration(rapid.IntRange(0, 12).Draw(t, "value"))
			m.Add(now, v)
			n.add(now, v)
			if rapid.IntRange(0, 3).Draw(t, "ask") > 0 {
				continue // only who asks makes the halves even
			}
			got, ok := m.Value(now)
			want, wantOK := n.value(now)
			if got != want || ok != wantOK {
				t.Fatalf("at %d: median %v %v, want %v %v", now, got, ok, want, wantOK)
			}
		}
		now += 101
		if _, ok := m.Value(now); ok || m.Len() != 0 {
			t.Fatalf("a window later %d samples are left", m.Len())
		}
	})
}

// A quartile is the nearest rank, whatever the order of comings and goings;
// the mean is that of the same window.
func TestQuartilesAndMeanAgainstSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit, quarter := rapid.IntRange(1, 40).Draw(t, "limit"), rapid.SampledFrom([]int{1, 3}).Draw(t, "quarter")
		q, mean, n := NewQuartile(quarter, 100, limit), NewMean(100, limit), &naive{window: 100, limit: limit}
		now := policies.Time(1)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += policies.Time(rapid.IntRange(0, 30).Draw(t, "gap"))
			v := time.Duration(rapid.IntRange(0, 12).Draw(t, "value"))
			q.Add(now, v)
			mean.Add(now, v)
			n.add(now, v)
			s := slices.Sorted(slices.Values(n.v))
			sum := time.Duration(0)
			for _, v := range s {
				sum += v
			}
			if got, ok := mean.Value(now); !ok || got != sum/time.Duration(len(s)) {
				t.Fatalf("mean %v %v of %v", got, ok, s)
			}
			if rapid.IntRange(0, 3).Draw(t, "ask") > 0 {
				continue
			}
			if got, ok := q.Value(now); !ok || got != s[(quarter*len(s)+3)/4-1] {
				t.Fatalf("quartile %d is %v %v of %v", quarter, got, ok, s)
			}
		}
	})
}

func TestMedianAllocatesNothingOnceGrown(t *testing.T) {
	m := NewMedian(time.Hour, 256)
	now := policies.Time(1)
	v := uint64(1)
	add := func() {
		now++
		v ^= v << 13
		v ^= v >> 7
		v ^= v << 17
		m.Add(now, time.Duration(v%1000))
		m.Value(now)
	}
	for range 1000 {
		add()
	}
	if n := testing.AllocsPerRun(1000, add); n != 0 {
		t.Errorf("%v allocations per sample", n)
	}
}
