package sockmode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/lambda"
	"github.com/open-lambda/open-lambda/worker/packages"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// box is one sandbox, or a parent, which holds what its children begin with
// and runs nothing itself: every sandbox is forked from the zygote that suits
// its packages, so that no process has to wait for children.
type box struct {
	id       string
	function string
	native   bool // its runtime is the lambda itself
	parent   bool
	packages []lambda.Requirement
	born     time.Time
	mb       int64         // its limit; 0 of a parent
	runtime  time.Duration // longest request
	slots    chan struct{} // requests that may run at once
	uses     atomic.Int64

	sb      sandbox.Sandbox // nil of a parent
	lease   *packages.Lease
	scratch string    // removed with it, "" if there is none
	output  io.Closer // nil: what it prints is dropped

	life context.Context // ends when it is to be destroyed
	stop context.CancelFunc

	mu      sync.Mutex
	charged int64 // MB
	frozen  bool
	gone    bool
}

// acquire takes memory, waiting for it in turn.
func (s *Server) acquire(ctx context.Context, mb int64) error {
	if ms := s.cfg.Settings.QueueTimeoutMS; ms > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(ms)*time.Millisecond, errNoMemory())
		defer cancel()
	}
	if err := s.memory.Acquire(ctx, mb); err != nil {
		return context.Cause(ctx)
	}
	used := s.used.Add(mb)
	for peak := s.peak.Load(); used > peak && !s.peak.CompareAndSwap(peak, used); peak = s.peak.Load() {
	}
	return nil
}

func (s *Server) release(mb int64) {
	s.used.Add(-mb)
	s.memory.Release(mb)
}

func errNoMemory() error {
	p := api.NewProblem(http.StatusServiceUnavailable, "no-capacity", "no memory of mem_pool_mb came free in time (queue_timeout_ms): destroy or pause sandboxes")
	p.RetryAfter = time.Second
	return p
}

// pause freezes a sandbox and gives back the memory that it does not use.
func (s *Server) pause(_ context.Context, b *box) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone {
		return noSandbox(b.id)
	}
	if b.frozen || b.parent {
		b.frozen = true
		return nil
	}
	if err := b.sb.SetFrozen(true); err != nil {
		return fmt.Errorf("pause sandbox %s: %w", b.id, err)
	}
	b.frozen = true
	uses := (b.sb.Info().MemBytes + 1<<20 - 1) >> 20
	if uses > 0 && uses < b.charged {
		s.release(b.charged - uses)
		b.charged = uses
	}
	return nil
}

// unpause thaws a sandbox once there is memory for all that it may use.
func (s *Server) unpause(ctx context.Context, b *box) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone {
		return noSandbox(b.id)
	}
	if !b.frozen || b.parent {
		b.frozen = false
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(b.life, func() { cancel(noSandbox(b.id)) })() // destroyed meanwhile
	if err := s.acquire(ctx, b.mb-b.charged); err != nil {
		return err
	}
	b.charged = b.mb
	if err := b.sb.SetFrozen(false); err != nil {
		return fmt.Errorf("unpause sandbox %s: %w", b.id, err)
	}
	b.frozen = false
	return nil
}

// destroy removes a sandbox and gives everything back. One that several destroy
// at once is removed once.
func (s *Server) destroy(ctx context.Context, b *box) error {
	s.mu.Lock()
	mine := s.all[b.id] == b
	delete(s.all, b.id)
	s.mu.Unlock()
	if !mine {
		return noSandbox(b.id)
	}
	b.stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = true
	begun := time.Now()
	// A caller who leaves does not change that it is to go.
	err := s.discard(context.WithoutCancel(ctx), b)
	if err == nil && !b.parent {
		s.removed.Add(time.Since(begun))
	}
	return err
}

// discard gives back what a box holds.
func (s *Server) discard(ctx context.Context, b *box) error {
	var err error
	if b.sb != nil {
		err = b.sb.Destroy(ctx)
	}
	if b.output != nil {
		err = errors.Join(err, b.output.Close())
	}
	if b.lease != nil {
		b.lease.Release()
	}
	if b.charged > 0 {
		s.release(b.charged)
		b.charged = 0
	}
	if b.scratch != "" {
		err = errors.Join(err, os.RemoveAll(b.scratch))
	}
	if err != nil {
		return fmt.Errorf("destroy sandbox %s: %w", b.id, err)
	}
	return nil
}

// list are all boxes, by id.
func (s *Server) list() []*box {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*box, 0, len(s.all))
	for _, b := range s.all {
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b *box) int { return strings.Compare(a.id, b.id) })
	return out
}

// Debug describes every sandbox.
func (s *Server) Debug() api.Debug {
	d := api.Debug{
		Worker: s.cfg.Worker, PoolMB: int64(s.cfg.Settings.MemPoolMB), UsedMB: s.used.Load(), PeakMB: s.peak.Load(),
		Sandboxes: []api.SandboxState{},
	}
	for _, b := range s.list() {
		d.Sandboxes = append(d.Sandboxes, b.state())
	}
	return d
}

func (b *box) state() api.SandboxState {
	st := api.SandboxState{
		ID: b.id, Function: b.function, State: "parent", LimitMB: b.mb, Uses: b.uses.Load(), AgeMS: float64(time.Since(b.born)) / float64(time.Millisecond),
	}
	if b.parent {
		return st
	}
	i := b.sb.Info()
	st.Origin, st.MemBytes, st.Detail, st.InitMS = i.Origin, i.MemBytes, i.Detail, float64(i.Init)/float64(time.Millisecond)
	st.State = "idle"
	if len(b.slots) > 0 {
		st.State = "busy"
	}
	select {
	case <-i.Exited:
		st.State = "dead: " + i.ExitText
	default:
	}
	if b.mu.TryLock() { // whoever holds it changes it
		st.Frozen = b.frozen
		b.mu.Unlock()
	}
	return st
}
