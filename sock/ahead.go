package sock

import (
	"context"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/sock/cgroup"
)

// idleTime is how long no start must have begun for control groups to be made
// ahead: it takes what starts need.
const idleTime = 30 * time.Millisecond

// stock makes control groups ahead while nobody starts anything, with the limits
// that the last lambda got.
type stock struct {
	p    *Provider
	wake chan struct{} // capacity 1: a group was taken

	mu   sync.Mutex
	last time.Time // when a group was taken
}

func newStock(p *Provider) *stock { return &stock{p: p, wake: make(chan struct{}, 1)} }

// take gets a control group.
func (s *stock) take() (*cgroup.Group, error) {
	s.mu.Lock()
	s.last = time.Now()
	s.mu.Unlock()
	s.poke()
	return s.p.groups.Get()
}

func (s *stock) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// rest says how long to wait until the provider counts as idle.
func (s *stock) rest() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return idleTime - time.Since(s.last)
}

// run fills the stock up after starts, until ctx ends.
func (s *stock) run(ctx context.Context) {
	s.poke()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		for rest := s.rest(); rest > 0; rest = s.rest() {
			select {
			case <-ctx.Done():
				return
			case <-time.After(rest):
			}
		}
		s.fill(ctx)
	}
}

// fill makes groups until there are enough or something is started.
func (s *stock) fill(ctx context.Context) {
	for ctx.Err() == nil && s.rest() <= 0 {
		made, err := s.p.groups.Add(s.p.foresee)
		if err != nil {
			s.p.log.Warn("cannot make cgroups ahead", "error", err)
		}
		if err != nil || !made {
			return
		}
	}
}

// foresee gives a group the limits that the last lambda got: most have the same,
// and setting them takes half a dozen writes.
func (p *Provider) foresee(g *cgroup.Group) error {
	if l := p.usual.Load(); l != nil {
		return g.SetLimits(*l)
	}
	return nil
}
