package sock

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"
)

// Each round is one cold start to the first answer, and the removal, which is
// not timed.
func benchmarkCold(b *testing.B, zygote bool, pool int) {
	cfg := settings(b)
	cfg.Zygote, cfg.Pool = zygote, pool
	cfg.Logger = slog.New(slog.DiscardHandler)
	p := newProvider(b, cfg)
	spec := code(b, "cold", echo)
	spec.Output = nil
	n := 0
	for b.Loop() {
		b.StopTimer()
		warm(b, p)
		n++
		spec.ID = fmt.Sprintf("cold-%d", n)
		b.StartTimer()
		s := create(b, p, spec)
		call(b, s, "{}")
		b.StopTimer()
		destroy(b, s)
		b.StartTimer()
	}
}

func BenchmarkColdPool(b *testing.B)   { benchmarkCold(b, true, 4) }
func BenchmarkColdZygote(b *testing.B) { benchmarkCold(b, true, 0) }
func BenchmarkColdFresh(b *testing.B)  { benchmarkCold(b, false, 0) }

// Each round is the whole life of one sandbox of a function of its own: start,
// first answer, removal; two at a time.
func BenchmarkSustained(b *testing.B) {
	cfg := settings(b)
	cfg.Logger = slog.New(slog.DiscardHandler)
	p := newProvider(b, cfg)
	warm(b, p)
	jobs := make(chan int)
	var wg sync.WaitGroup
	spec := code(b, "x", echo)
	spec.Output = nil
	for range 2 {
		wg.Go(func() {
			for n := range jobs {
				own := spec
				own.ID = fmt.Sprintf("sustained-%d", n)
				s := create(b, p, own)
				call(b, s, "{}")
				destroy(b, s)
			}
		})
	}
	n := 0
	for b.Loop() {
		n++
		jobs <- n
	}
	close(jobs)
	wg.Wait()
}
