package sock

import (
	"context"
	"fmt"
	"time"

	"github.com/open-lambda/open-lambda/sock/cgroup"
)

// Create makes one sandbox and returns when it can serve: the lambda's code is
// loaded. It gives up, leaving nothing, when ctx ends. A failure is a
// *StartError.
func (p *Provider) Create(ctx context.Context, spec Spec) (*Sandbox, error) {
	begin := time.Now()
	if err := spec.Validate(); err != nil {
		return nil, &StartError{Reason: err.Error()}
	}
	ctx, end, err := p.roster.Begin(ctx)
	if err != nil {
		return nil, &StartError{Reason: "shutting down", Err: err}
	}
	defer end()
	network := spec.Network
	if network == "" {
		network = p.cfg.Network
	}
	c, err := p.acquire(network)
	if err != nil {
		return nil, HostFault(err)
	}
	if err := p.become(ctx, c, spec); err != nil {
		p.discard(c)
		return nil, err
	}
	return p.roster.Keep(body{p, c}, c.Guest, time.Since(begin)), nil
}

// HostFault is a start that failed for a reason that is not the lambda's.
func HostFault(err error) *StartError { return &StartError{Reason: "host cannot make it", Err: err} }

// acquire gets a child with a network from the best origin there is.
func (p *Provider) acquire(network string) (*child, error) {
	if network == p.cfg.Network {
		if c := p.pool.take(); c != nil {
			return c, nil
		}
	}
	if p.nursery != nil && p.forkable(network) {
		done := p.pool.forkFirst()
		c, err := p.forkChild(FromZygote, network)
		done()
		if err == nil {
			return c, nil
		}
		p.log.Debug("cannot fork from zygote", "error", err)
	}
	return p.startFresh(network)
}

// become turns a child into the lambda of spec.
func (p *Provider) become(ctx context.Context, c *child, spec Spec) error {
	code, err := mountAll(spec.Dir, spec.Packages, c.users)
	c.releaseUsers()
	if err != nil {
		return HostFault(err)
	}
	defer code.Close()
	limits := cgroup.Limits{MemMB: spec.MemMB, CPUPercent: spec.CPUPercent, Procs: spec.Procs}
	if err := c.group.SetLimits(limits); err != nil {
		return HostFault(err)
	}
	p.usual.Store(&limits)
	return c.Become(ctx, spec, body{p, c}, code...)
}

func (p *Provider) logError(what string, err error) {
	if err != nil {
		p.log.Error("clean-up failed", "step", what, "error", fmt.Sprint(err))
	}
}
