package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/open-lambda/open-lambda/src/bench"
)

// Limits on what OCI containers may cost. A start is a fresh python3 and what
// libcontainer does around it; once started, a sandbox of either kind is the
// same process behind the same socket.
const (
	runcFreshLimit  = 4   // times a fresh SOCK start
	runcPoolLimit   = 100 // times a SOCK start from the pool
	runcWarmLimit   = 1.1 // times a warm call with SOCK
	runcMemoryLimit = 15  // MB; nothing is shared with a zygote
)

// providers compares OCI containers with SOCK sandboxes.
func (b *bencher) providers(ctx context.Context) error {
	if _, err := requireRunc("measure providers"); err != nil {
		return err
	}
	return errors.Join(
		b.providersCold(ctx, "started fresh", "features.import_cache=,pool_size=0", runcFreshLimit),
		b.providersCold(ctx, "from the pool", "pool_size=4", runcPoolLimit),
		b.providersWarm(ctx),
	)
}

// providersCold compares first calls with those of SOCK sandboxes that are made
// in some way.
func (b *bencher) providersCold(ctx context.Context, how, options string, limit float64) error {
	return b.withPair(ctx, fmt.Sprintf("providers%.0f", limit), [2]string{"sandbox=runc", options}, func(pair [2]*tempWorker) error {
		times, err := coldInTurn(ctx, "cold", pair)
		if err != nil {
			return err
		}
		b.compareProviders("OCI container against SOCK "+how+", cold start p50", limit, times)
		return nil
	})
}

// providersWarm compares warm calls, and the memory of idle sandboxes.
func (b *bencher) providersWarm(ctx context.Context) error {
	return b.withPair(ctx, "providers-warm", [2]string{"sandbox=runc", "pool_size=4"}, func(pair [2]*tempWorker) error {
		times, err := warmInTurn(ctx, "warm", pair)
		if err != nil {
			return err
		}
		b.compareProviders("OCI container against SOCK, warm call p50", runcWarmLimit, times)
		var pss [2]float64
		for i, w := range pair {
			if err := w.installMany(ctx, "idle", "echo", coldLength/2); err != nil {
				return err
			}
			if out := bench.Spread(ctx, calls(w, "idle", coldLength/2, true, benchBody), 2); out.FirstFail != nil {
				return out.FirstFail
			}
			if pss[i], _, err = w.meanPSS(ctx); err != nil {
				return err
			}
		}
		b.add(bench.AtMost("OCI container, memory (PSS)", pss[0], runcMemoryLimit, "MB").
			With(bench.Times{N: coldLength/2 + 1}, fmt.Sprintf("mean; SOCK %.1f MB", pss[1])))
		return nil
	})
}

func (b *bencher) compareProviders(name string, limit float64, times [2][]time.Duration) {
	runc, sock := bench.Describe(times[0]), bench.Describe(times[1])
	b.add(bench.AtMost(name, bench.Ratio(runc.Median, sock.Median), limit, "x").
		With(runc, "SOCK "+sock.Median.Round(time.Microsecond).String()))
}
