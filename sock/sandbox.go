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
	p        *Provider
	child    *child
	took     time.Duration
	exited   chan struct{} // closed when the process has ended by itself
	exitText string        // written before exited is closed
	gone     chan struct{} // closed when nothing is left

	mu         sync.Mutex
	frozen     bool
	destroying bool
}

func newSandbox(p *Provider, c *child, took time.Duration) *Sandbox {
	return &Sandbox{
		p: p, child: c, took: took,
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
	if err := s.child.group.Freeze(frozen); err != nil {
		return err
	}
	s.frozen = frozen
	return nil
}

// Info tells what is known of the sandbox now.
func (s *Sandbox) Info() Info {
	info := Info{Origin: s.child.origin, Init: s.took, Exited: s.exited}
	select {
	case <-s.exited:
		info.ExitText = s.exitText
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	info.Zygote = s.child.zygote
	info.Detail = fmt.Sprintf("pid %d, %s, network %s, cgroup %s, frozen %t",
		s.child.proc.pid, s.p.users.describeOne(s.child.place.ids), s.child.network, s.child.group.Path(), s.frozen)
	if s.destroying {
		return info
	}
	if mem, err := s.child.group.Memory(); err == nil {
		info.MemBytes = mem
	}
	return info
}

// watch notices the end of the process.
func (s *Sandbox) watch() {
	<-s.child.proc.done
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.destroying {
		return
	}
	s.exitText = exitReason(s.child.proc, s.child.group)
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
	s.p.wg.Go(s.tearDown)
}

func (s *Sandbox) tearDown() {
	defer close(s.gone)
	s.child.proc.kill()
	<-s.child.proc.done
	s.child.drain()
	s.p.giveBack(s.child)
	s.p.mu.Lock()
	delete(s.p.sandboxes, s)
	s.p.mu.Unlock()
}
