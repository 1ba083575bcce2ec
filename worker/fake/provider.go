package fake

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// Provider makes sandboxes that are handlers.
type Provider struct {
	// Start is called for each sandbox; it may wait and fail, and returns
	// what answers requests. Required.
	Start func(ctx context.Context, spec sandbox.Spec) (http.Handler, error)
	// Stop, if set, is called when one is destroyed and may wait.
	Stop func(id string)

	// Dial, if set, is called for each request, and its error is that the sandbox
	// cannot be reached although it lives.
	Dial func(id string) error

	mu     sync.Mutex
	live   map[string]*Sandbox
	made   int
	peak   int
	closed bool
}

// Create makes one sandbox.
func (p *Provider) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	begun := time.Now()
	h, err := p.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	s := &Sandbox{
		Spec: spec, handler: h, provider: p, exited: make(chan struct{}), free: make(chan struct{}, 1),
		info: sandbox.Info{Origin: "fresh", Init: time.Since(begun)},
	}
	s.info.Exited = s.exited
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live == nil {
		p.live = map[string]*Sandbox{}
	}
	if p.live[spec.ID] != nil {
		return nil, errors.New("sandbox id used twice: " + spec.ID)
	}
	p.live[spec.ID] = s
	p.made++
	p.peak = max(p.peak, len(p.live))
	return s, nil
}

// Close marks the provider closed.
func (p *Provider) Close(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return nil
}

// Closed tells whether Close was called.
func (p *Provider) Closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// Live returns the sandboxes that were not destroyed.
func (p *Provider) Live() []*Sandbox {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]*Sandbox, 0, len(p.live))
	for _, s := range p.live {
		out = append(out, s)
	}
	return out
}

// Made returns how many sandboxes were ever made, and the most at one time.
func (p *Provider) Made() (made, peak int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.made, p.peak
}

func (p *Provider) drop(id string) {
	if p.Stop != nil {
		p.Stop(id)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.live, id)
}
