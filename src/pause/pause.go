package pause

import (
	"context"
	"math/rand/v2"
	"time"
)

// For waits for d, and tells whether it did: false if ctx ended before.
func For(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Backoff is the pause after the n-th failure in a row (from 1): base, doubled
// each time up to most, half of it by chance, so that what failed together does
// not come back together.
func Backoff(base, most time.Duration, n int) time.Duration {
	d := base
	for range n - 1 {
		if d >= most {
			break
		}
		d *= 2
	}
	d = max(min(d, most), time.Millisecond)
	return d/2 + rand.N(d/2+1)
}
