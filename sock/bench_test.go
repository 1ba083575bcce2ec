package sock

import (
	"fmt"
	"log/slog"
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
