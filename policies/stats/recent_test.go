package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestRecentByHand(t *testing.T) {
	var r Recent
	if _, ok := r.Mean(); ok {
		t.Error("a mean without samples")
	}
	if _, ok := r.Remaining(0); ok {
		t.Error("a prediction without samples")
	}
	for _, v := range []time.Duration{40, 10, 20, 10} {
		r.Add(v)
	}
	for _, c := range []struct{ elapsed, want time.Duration }{
		{0, 20},  // 80/4
		{9, 11},  // 80/4 - 9
		{10, 20}, // (20+40)/2 - 10: those equal to it are over
		{25, 15}, // 40 - 25
		{40, 40}, // outlasted all: as long again
		{100, 100},
	} {
		if got, ok := r.Remaining(c.elapsed); !ok || got != c.want {
			t.Errorf("after %d: got %d, want %d", c.elapsed, got, c.want)
		}
	}
	if m, _ := r.Median(); m != 20 {
		t.Errorf("median %d, want 20", m)
	}
}

func TestRecentAgainstAScan(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var r Recent
	var all []time.Duration
	for i := range 3 * RecentLimit {
		v := time.Duration(rng.IntN(50))
		r.Add(v)
		all = append(all, v)
		last := slices.Clone(all[max(0, len(all)-RecentLimit):])
		elapsed := time.Duration(rng.IntN(60))
		var sum, n time.Duration
		for _, x := range last {
			if x > elapsed {
				sum, n = sum+x, n+1
			}
		}
		want := elapsed
		if n > 0 {
			want = sum/n - elapsed
		}
		if got, _ := r.Remaining(elapsed); got != want || r.Len() != len(last) {
			t.Fatalf("sample %d: got %d of %d, want %d of %d", i, got, r.Len(), want, len(last))
		}
		slices.Sort(last)
		if got, _ := r.Median(); got != last[len(last)/2] {
			t.Fatalf("sample %d: median %d, want %d", i, got, last[len(last)/2])
		}
	}
	if n := testing.AllocsPerRun(100, func() { r.Add(5); r.Remaining(4) }); n > 0 {
		t.Errorf("%.0f allocations per sample", n)
	}
}
