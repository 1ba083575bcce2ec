package sim

import (
	"syscall"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/trace"
)

// BenchmarkFolded is the speed that the project promises: S2 under cidre.
func BenchmarkFolded(b *testing.B) {
	functions, err := trace.Folded()
	if err != nil {
		b.Fatal(err)
	}
	o := trace.Options{Seed: 1, Sigma: 1, MaxExec: trace.PaperExecCap}
	m := trace.DefaultModel()
	m.MemScale = trace.PaperMemScale
	t := time.Now()
	all, err := trace.Expand(functions, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("expand: %v", time.Since(t))
	w := trace.FromSlice("s2", 30*time.Minute, m.Profiles(functions), all)
	b.ReportAllocs()
	for b.Loop() {
		var before, after syscall.Rusage
		res, err := Run(b.Context(), Config{Workload: w, Nodes: 1, PoolMB: 100_000, Policy: preset("cidre"), Warmup: true, Measured: func() {
			b.ResetTimer()
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
		}})
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(res.Arrived)/time.Duration(after.Utime.Nano()-before.Utime.Nano()).Seconds(), "req/cpu-s")
		b.Logf("%+v", res.Overhead)
		b.Logf("cold %.3f delayed %.3f warm %.3f evict %d", res.ColdRatio, res.DelayedRatio, res.WarmRatio, res.Evicted)
	}
}
