package enginebench_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine/enginebench"
)

// BenchmarkStep is a warm arrival or a finish with 1,000 functions and
// 10,000 sandboxes. Bar: a median under 1 us, 0 allocations.
func BenchmarkStep(b *testing.B) {
	for _, preset := range catalog.Names("") {
		b.Run(preset, func(b *testing.B) {
			f := newFleet(b, preset, 1000, 10_000)
			b.ReportAllocs()
			const batch = 100 // a clock is as dear as a Step
			var each []time.Duration
			b.ResetTimer()
			for n := b.N; n > 0; n -= batch {
				from := time.Now()
				for range min(n, batch) {
					f.Step()
				}
				each = append(each, time.Since(from)/time.Duration(min(n, batch)))
			}
			report(b, each, f)
		})
	}
}

// BenchmarkEvict is the Step of an arrival that evicts one of 1,000 or of
// 10,000 idle sandboxes of 1,000 functions. Bar: a median under 5 us, at most
// 2.5 times as much for ten times the sandboxes. ns/op includes what restores
// the fleet; the median does not.
func BenchmarkEvict(b *testing.B) {
	for _, preset := range catalog.Names("") {
		for _, idle := range []int{1000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", preset, idle), func(b *testing.B) {
				f := newFleet(b, preset, 1000, idle)
				each := make([]time.Duration, 0, b.N)
				b.ResetTimer()
				for range b.N {
					from := time.Now()
					f.Evict()
					each = append(each, time.Since(from))
					f.Restore()
				}
				report(b, each, f)
			})
		}
	}
}

func report(b *testing.B, each []time.Duration, f *enginebench.Fleet) {
	b.StopTimer()
	if err := f.Err(); err != nil {
		b.Fatal(err)
	}
	slices.Sort(each)
	b.ReportMetric(float64(each[len(each)/2]), "median-ns")
	b.ReportMetric(float64(each[len(each)*99/100]), "p99-ns")
}
