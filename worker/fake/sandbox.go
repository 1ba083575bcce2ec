package fake

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// Sandbox is one fake sandbox.
type Sandbox struct {
	Spec     sandbox.Spec
	handler  http.Handler
	provider *Provider
	info     sandbox.Info
	exited   chan struct{}
	free     chan struct{}

	mu        sync.Mutex
	text      string // why it died
	dead      bool
	destroyed bool
	frozen    bool
	freezes   int
	stuck     bool // does not answer pings
	served    int
}

var errDied = errors.New("connection reset")

// Die ends the runtime inside, with requests in it.
func (s *Sandbox) Die(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dead {
		s.dead, s.text = true, text
		close(s.exited)
	}
}

// Stick makes it deaf for pings.
func (s *Sandbox) Stick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stuck = true
}

// Frozen tells whether it is frozen, and how often it was frozen.
func (s *Sandbox) Frozen() (frozen bool, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frozen, s.freezes
}

// Served returns how many requests reached the handler.
func (s *Sandbox) Served() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served
}

// enter counts a request that the handler will see.
func (s *Sandbox) enter(ping bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead || s.destroyed {
		return fmt.Errorf("dial: %w", sandbox.ErrNotSent)
	}
	if s.frozen {
		return errors.New("request sent to a frozen sandbox")
	}
	if ping && s.stuck {
		return errors.New("no answer")
	}
	if !ping {
		s.served++
	}
	return nil
}

// RoundTrip runs the handler.
func (s *Sandbox) RoundTrip(r *http.Request) (*http.Response, error) {
	ping := r.URL.Path == api.PathPing
	if s.provider.Dial != nil {
		if err := s.provider.Dial(s.Spec.ID); err != nil {
			return nil, errors.Join(sandbox.ErrNotSent, err)
		}
	}
	if err := s.enter(ping); err != nil {
		return nil, err
	}
	if ping {
		return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: r}, nil
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	a := newAnswer(r, cancel)
	go a.serve(s.handler, r.WithContext(ctx))
	select {
	case <-a.started:
		return a.response(s.exited), nil
	case <-s.exited:
		cancel(errDied)
		<-a.finished
		return nil, errDied
	case <-ctx.Done():
		<-a.finished
		return nil, ctx.Err()
	}
}

// SetFrozen notes the state.
func (s *Sandbox) SetFrozen(frozen bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.destroyed {
		return errors.New("sandbox is destroyed")
	}
	if frozen && !s.frozen {
		s.freezes++
	}
	s.frozen = frozen
	return nil
}

// Destroy removes it.
func (s *Sandbox) Destroy(context.Context) error {
	s.mu.Lock()
	again := s.destroyed
	s.destroyed = true
	if !s.dead {
		s.dead, s.text = true, "destroyed"
		close(s.exited)
	}
	s.mu.Unlock()
	if !again {
		s.provider.drop(s.Spec.ID)
	}
	return nil
}

// Info describes it.
func (s *Sandbox) Info() sandbox.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.info
	i.ExitText = s.text
	return i
}
