package sock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// drainTime bounds the wait for the last lines of a sandbox whose processes
// are gone, should somebody else hold its output pipe.
const drainTime = time.Second

// Sandbox is one ready sandbox.
type Sandbox struct {
	p         *Provider
	child     *child
	id        string
	took      time.Duration
	transport *http.Transport
	exited    chan struct{} // closed when the process has ended by itself
	exitText  string        // written before exited is closed
	gone      chan struct{} // closed when nothing is left
	leftover  error         // written before gone is closed

	mu         sync.Mutex
	frozen     bool
	destroying bool
}

func newSandbox(p *Provider, c *child, spec Spec, took time.Duration) *Sandbox {
	s := &Sandbox{
		p: p, child: c, id: spec.ID, took: took,
		exited: make(chan struct{}), gone: make(chan struct{}),
	}
	s.transport = &http.Transport{
		DialContext:         s.dial,
		DisableCompression:  true,
		MaxIdleConnsPerHost: spec.Slots,
	}
	return s
}

// dial connects to the runtime's socket by its descriptor.
func (s *Sandbox) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", procPath(s.child.place.socket))
	if err != nil {
		return nil, fmt.Errorf("connect to sandbox: %w: %w", ErrNotSent, err)
	}
	return conn, nil
}

// RoundTrip sends one request to the runtime and returns its answer as it is:
// redirects are not followed, bodies are not decoded. Scheme and host of the
// URL are ignored; the Host header is kept. ErrNotSent is in the error's chain
// when the lambda cannot have seen anything of the request.
func (s *Sandbox) RoundTrip(req *http.Request) (*http.Response, error) {
	inside := req.WithContext(req.Context())
	target := *req.URL
	target.Scheme, target.Host = "http", "sandbox"
	inside.URL = &target
	if inside.Host == "" {
		inside.Host = req.URL.Host
	}
	return s.transport.RoundTrip(inside)
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
	info.Detail = fmt.Sprintf("pid %d, uid %d, cgroup %s, frozen %t", s.child.proc.pid, s.child.place.uid, s.child.group.Path(), s.frozen)
	if s.destroying {
		return info
	}
	if usage, err := s.child.group.Usage(); err == nil {
		info.MemBytes = usage.MemBytes
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
		return s.leftover
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
	s.transport.CloseIdleConnections()
	s.drain()
	s.p.returnGroup(s.child.group)
	s.leftover = s.p.leave(s.child.place)
	s.p.mu.Lock()
	delete(s.p.sandboxes, s.id)
	s.p.mu.Unlock()
}

// drain lets the last lines through.
func (s *Sandbox) drain() {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-s.child.output.done:
	case <-timer.C:
		s.child.output.close()
	}
}
