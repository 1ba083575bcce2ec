package sock

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
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
// first answer, removal; two at a time. What it takes of the processors is
// worth comparing on a busy machine, the time is not.
func BenchmarkSustained(b *testing.B) {
	for _, kind := range []struct {
		name   string
		change func(*Config)
	}{
		{"none", func(c *Config) { c.Network = NetworkNone }},
		{"host", func(*Config) {}},
		{"no-users", func(c *Config) { c.UserNS = false }},
		{"no-filter", func(c *Config) { c.Seccomp = false }},
		{"bare", func(c *Config) { c.UserNS, c.Seccomp = false, false }},
		{"no-pool", func(c *Config) { c.Pool = 0 }},
	} {
		b.Run(kind.name, func(b *testing.B) { benchmarkSustained(b, kind.change) })
	}
}

func benchmarkSustained(b *testing.B, change func(*Config)) {
	cfg := settings(b)
	cfg.Logger = slog.New(slog.DiscardHandler)
	change(&cfg)
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
	inside, ours := childTime(b, p), ownTime(b)
	n := 0
	for b.Loop() {
		n++
		jobs <- n
	}
	close(jobs)
	wg.Wait()
	b.ReportMetric(float64(childTime(b, p)-inside)/float64(n), "sandbox-us/op")
	b.ReportMetric(float64(ownTime(b)-ours)/float64(n), "worker-us/op")
}

// childTime is the processor time of all that is in the provider's control
// groups or was, microseconds: sandboxes and zygotes.
func childTime(b *testing.B, p *Provider) int64 {
	b.Helper()
	folder, err := p.driver.Folder()
	if err != nil {
		b.Fatal(err)
	}
	for _, mount := range []string{"/sys/fs/cgroup/unified", "/sys/fs/cgroup"} {
		text, err := os.ReadFile(filepath.Join(mount, folder, "cpu.stat"))
		if err != nil {
			continue
		}
		used, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		return used
	}
	b.Fatal("the kernel does not tell the processor time of groups")
	return 0
}

// ownTime is the processor time of this process, microseconds.
func ownTime(b *testing.B) int64 {
	b.Helper()
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return (r.Utime.Nano() + r.Stime.Nano()) / 1000
}
