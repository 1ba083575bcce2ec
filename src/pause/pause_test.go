package pause

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if !For(t.Context(), time.Minute) || time.Since(begun) != time.Minute {
			t.Errorf("waited for %v", time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun = time.Now()
		if For(ctx, time.Minute) || time.Since(begun) != time.Second || For(ctx, 0) {
			t.Errorf("an ended context let it wait for %v", time.Since(begun))
		}
	})
}

func TestBackoff(t *testing.T) {
	for n, want := range map[int]time.Duration{1: 1000, 2: 2000, 3: 4000, 4: 5000, 1000: 5000} {
		for range 100 {
			if d := Backoff(time.Second, 5*time.Second, n); d < want*time.Millisecond/2 || d > want*time.Millisecond {
				t.Fatalf("after failure %d: %v", n, d)
			}
		}
	}
	if d := Backoff(0, 0, 1); d <= 0 || d > time.Millisecond {
		t.Errorf("got %v", d)
	}
}
