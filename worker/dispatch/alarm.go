package dispatch

import (
	"context"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/policies"
)

// alarm calls the dispatcher when the engine's next timer is due. Setting a
// later moment than the one that is armed costs nothing: the alarm rings early
// and is set again.
type alarm struct {
	wake chan struct{}

	mu sync.Mutex
	at policies.Time // Never: not armed
}

func newAlarm() *alarm { return &alarm{wake: make(chan struct{}, 1)} }

// set arms the alarm for a moment, unless it rings before anyway.
func (a *alarm) set(at policies.Time) {
	a.mu.Lock()
	sooner := a.at == policies.Never || at < a.at
	if sooner {
		a.at = at
	}
	a.mu.Unlock()
	if !sooner {
		return
	}
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// due disarms the alarm if its moment has come; else it tells how long to wait.
func (a *alarm) due(now policies.Time) (ring bool, wait time.Duration, armed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at == policies.Never {
		return false, 0, false
	}
	if now >= a.at {
		a.at = policies.Never
		return true, 0, false
	}
	return false, a.at.Sub(now), true
}

func (a *alarm) run(ctx context.Context, now func() policies.Time, tick func()) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.wake:
		case <-timer.C:
		}
		ring, wait, armed := a.due(now())
		if ring {
			tick() // sets the alarm again if there is a next timer
			continue
		}
		if armed {
			timer.Reset(wait)
		}
	}
}
