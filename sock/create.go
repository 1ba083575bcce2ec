package sock

import (
	"context"
	"fmt"

	"github.com/open-lambda/open-lambda/sock/cgroup"
)

// Create makes one sandbox and returns when it can serve: the lambda's code is
// loaded. It gives up, leaving nothing, when ctx ends. A failure is a
// *StartError.
func (p *Provider) Create(ctx context.Context, spec Spec) (*Sandbox, error) {
	network := spec.Network
	if network == "" {
		network = p.cfg.Network
	}
	origin := ""
	s, took, err := p.roster.Start(ctx, spec, func(ctx context.Context) (Body, *Guest, error) {
		c, err := p.acquire(&spec, network)
		if err != nil {
			return nil, nil, HostFault(err)
		}
		if err := p.become(ctx, c, spec); err != nil {
			p.discard(c)
			return nil, nil, err
		}
		p.tree.wish(c.wish)
		origin = c.madeFrom()
		return body{p, c}, c.Guest, nil
	})
	if err == nil {
		p.estimates.Add(origin, took)
	}
	return s, err
}

// HostFault is a start that failed for a reason that is not the lambda's.
func HostFault(err error) *StartError { return &StartError{Reason: "host cannot make it", Err: err} }

// acquire gets a child with a network from the best origin there is. What is
// better and is not there is made when the start is over, which it would slow.
func (p *Provider) acquire(spec *Spec, network string) (*child, error) {
	best := p.tree.choose(spec)
	if best.from == nil {
		c, err := p.acquirePlain(network)
		return wishing(best.want, c, err)
	}
	defer p.tree.done(best.from)
	if best.from.saves < forkGain {
		if c := p.parked(network); c != nil {
			return wishing(best.want, c, nil)
		}
	}
	if !p.forkable(network) {
		return p.acquirePlain(network)
	}
	done := p.pool.forkFirst()
	c, err := p.forkFrom(best.from.zygote, FromZygote, network)
	done()
	if err != nil {
		p.log.Debug("cannot fork from zygote of the tree", "error", err)
		return p.acquirePlain(network)
	}
	c.zygote = best.from.recipe.key
	return wishing(best.want, c, nil)
}

// wishing notes which zygote would have been better for a child.
func wishing(want *recipe, c *child, err error) (*child, error) {
	if err == nil {
		c.wish = want
	}
	return c, err
}

// parked takes a child from the pool, nil if there is none with the network.
func (p *Provider) parked(network string) *child {
	if network != p.cfg.Network {
		return nil
	}
	return p.pool.take()
}

// acquirePlain gets a child that has imported what every lambda needs.
func (p *Provider) acquirePlain(network string) (*child, error) {
	if c := p.parked(network); c != nil {
		return c, nil
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
	if err := p.cfg.FaultAt(FaultMount); err != nil {
		c.releaseUsers()
		return HostFault(err)
	}
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
