package sock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Sandbox is one ready sandbox.
type Sandbox struct {
	roster *Roster
	body   Body
	guest  *Guest
	took   time.Duration
	exited chan struct{} // closed when the process has ended by itself
	gone   chan struct{} // closed when nothing is left

	mu         sync.Mutex
	frozen     bool
	destroying bool
	last       Info // of the body, as it was when it ended or destroying began
}

func newSandbox(r *Roster, body Body, guest *Guest, took time.Duration) *Sandbox {
	return &Sandbox{
		roster: r, body: body, guest: guest, took: took,
		exited: make(chan struct{}), gone: make(chan struct{}),
	}
}

// SetFrozen freezes the sandbox or lets it go on, and returns when the kernel
// has done it.
func (s *Sandbox) SetFrozen(frozen bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.destroying {
		return errors.New("freeze sandbox: it is being destroyed")
	}
	if s.frozen == frozen {
		return nil
	}
	if err := s.roster.fault(FaultFreeze); err != nil {
		return fmt.Errorf("freeze sandbox: %w", err)
	}
	if err := s.body.Freeze(frozen); err != nil {
		return err
	}
	s.frozen = frozen
	return nil
}

// Info tells what is known of the sandbox now.
func (s *Sandbox) Info() Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	info := s.last
	if !s.destroying {
		info = s.body.Inspect()
		info.MemBytes = s.body.MemBytes()
	}
	info.Init, info.Exited, info.ExitText = s.took, s.exited, ""
	info.Detail += fmt.Sprintf(", frozen %t", s.frozen)
	select {
	case <-s.exited:
		info.ExitText = s.last.ExitText
	default:
	}
	return info
}

// watch notices the end of the process.
func (s *Sandbox) watch() {
	<-s.body.Ended()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.destroying {
		return
	}
	s.last = s.body.Inspect()
	close(s.exited)
}

// Destroy kills what runs in the sandbox, waits for the kernel and removes
// every trace. It may be called twice. ctx bounds the wait; the removal goes
// on without it.
func (s *Sandbox) Destroy(ctx context.Context) error {
	s.beginDestroy()
	select {
	case <-s.gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for sandbox to go: %w", ctx.Err())
	}
}

// beginDestroy starts the removal, once.
func (s *Sandbox) beginDestroy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.destroying {
		return
	}
	s.destroying = true
	if s.last.Detail == "" {
		s.last = s.body.Inspect()
	}
	s.roster.wg.Go(s.tearDown)
}

func (s *Sandbox) tearDown() {
	defer close(s.gone)
	s.body.Kill()
	<-s.body.Ended()
	s.body.Remove()
	s.roster.forget(s)
}
