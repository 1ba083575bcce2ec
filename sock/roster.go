package sock

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Roster knows every sandbox of a provider, and lets none begin once it
// closes.
type Roster struct {
	fault  func(FaultPoint) error
	ctx    context.Context // ends when Close begins
	cancel context.CancelFunc
	wg     sync.WaitGroup // goroutines of sandboxes

	mu        sync.Mutex
	closed    bool
	creating  sync.WaitGroup // added to under mu
	sandboxes map[*Sandbox]struct{}
}

// NewRoster returns an empty roster for a provider with this configuration.
func NewRoster(cfg *Config) *Roster {
	ctx, cancel := context.WithCancel(context.Background())
	return &Roster{fault: cfg.FaultAt, ctx: ctx, cancel: cancel, sandboxes: map[*Sandbox]struct{}{}}
}

// Begin admits one creation. The context ends with ctx or with the roster; end
// must be called. After Close it fails with ErrClosed.
func (r *Roster) Begin(ctx context.Context) (_ context.Context, end func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, nil, ErrClosed
	}
	r.creating.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(r.ctx, cancel)
	return ctx, func() { stop(); cancel(); r.creating.Done() }, nil
}

// Keep registers a sandbox that is ready and watches it. took is the time from
// Create to ready.
func (r *Roster) Keep(body Body, guest *Guest, took time.Duration) *Sandbox {
	s := newSandbox(r, body, guest, took)
	r.mu.Lock()
	r.sandboxes[s] = struct{}{}
	r.mu.Unlock()
	r.wg.Go(s.watch)
	return s
}

func (r *Roster) forget(s *Sandbox) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sandboxes, s)
}

// Close ends the creations in progress and destroys every sandbox. ctx bounds
// the wait for them to go. first is false, and nothing is done, when it was
// called before.
func (r *Roster) Close(ctx context.Context) (first bool, err error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return false, nil
	}
	r.closed = true
	r.mu.Unlock()
	r.cancel()
	r.creating.Wait()
	return true, r.destroyAll(ctx)
}

func (r *Roster) destroyAll(ctx context.Context) error {
	r.mu.Lock()
	all := make([]*Sandbox, 0, len(r.sandboxes))
	for s := range r.sandboxes {
		all = append(all, s)
	}
	r.mu.Unlock()
	for _, s := range all {
		s.beginDestroy()
	}
	var errs []error
	for _, s := range all {
		errs = append(errs, s.Destroy(ctx))
	}
	return errors.Join(errs...)
}

// Wait returns when every goroutine of the sandboxes has ended. Their
// processes must be gone or going.
func (r *Roster) Wait() { r.wg.Wait() }
