package sock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/sock/cgroup"
)

// Create makes one sandbox and returns when it can serve: the lambda's code is
// loaded. It gives up, leaving nothing, when ctx ends. A failure is a
// *StartError.
func (p *Provider) Create(ctx context.Context, spec Spec) (*Sandbox, error) {
	begin := time.Now()
	if err := spec.validate(); err != nil {
		return nil, &StartError{Reason: err.Error()}
	}
	ctx, end, err := p.begin(ctx)
	if err != nil {
		return nil, &StartError{Reason: "shutting down", Err: err}
	}
	defer end()
	network := spec.Network
	if network == "" {
		network = p.cfg.Network
	}
	c, err := p.acquire(&spec, network)
	if err != nil {
		return nil, hostFault(err)
	}
	if err := p.become(ctx, c, spec); err != nil {
		p.discard(c)
		return nil, err
	}
	p.tree.wish(c.wish)
	return p.keepSandbox(c, time.Since(begin)), nil
}

func hostFault(err error) *StartError { return &StartError{Reason: "host cannot make it", Err: err} }

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
	code, err := mountAll(spec.Dir, spec.Packages, c.users)
	c.releaseUsers()
	if err != nil {
		return hostFault(err)
	}
	defer code.close()
	limits := cgroup.Limits{MemMB: spec.MemMB, CPUPercent: spec.CPUPercent, Procs: spec.Procs}
	if err := c.group.SetLimits(limits); err != nil {
		return hostFault(err)
	}
	p.usual.Store(&limits)
	if c.calls, err = p.serveCalls(c.place, spec.Calls); err != nil {
		return hostFault(err)
	}
	c.output.attach(spec.Output)
	if err := c.control.send(message{Op: "start", Spec: childSpecOf(spec)}, code...); err != nil {
		return hostFault(err)
	}
	defer c.control.close()
	answer, dir, err := c.answerWithFile(ctx)
	switch {
	case errors.Is(err, errEnded):
		return c.deathError(ctx)
	case err != nil:
		return c.gaveUp(ctx)
	case answer.Op == "program" && dir != nil:
		return c.awaitProgram(ctx, spec, dir)
	case answer.Op != "ready":
		return c.refusal(ctx, answer)
	}
	return nil
}

func childSpecOf(spec Spec) *childSpec {
	env := spec.Env
	if env == nil {
		env = map[string]string{}
	}
	return &childSpec{
		Hostname: spec.ID, Packages: packageNames(spec.Packages), Entry: spec.Entry, Handler: spec.Handler,
		Env: env, Slots: spec.Slots, MaxBody: spec.MaxBody,
		About: about{Function: spec.Function, MemMB: spec.MemMB, RuntimeMS: spec.Runtime.Milliseconds()},
	}
}

// deathError says why a child ended instead of answering.
func (c *child) deathError(ctx context.Context) error {
	if err := c.end(ctx); err != nil {
		return err
	}
	return &StartError{Lambda: true, Reason: exitReason(c.proc, c.group), Output: c.output.last()}
}

// refusal makes an error of a child's own explanation.
func (c *child) refusal(ctx context.Context, answer message) error {
	if err := c.end(ctx); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(answer.Text), "\n")
	return &StartError{
		Lambda: answer.Lambda,
		Reason: strings.TrimSpace(lines[len(lines)-1]),
		Output: c.output.last() + answer.Text,
	}
}

// end kills a child that is of no use any more and waits until all that it
// printed is there.
func (c *child) end(ctx context.Context) error {
	c.proc.kill()
	select {
	case <-c.proc.done:
		c.drain()
		return nil
	case <-ctx.Done():
		return c.gaveUp(ctx)
	}
}

func (c *child) gaveUp(ctx context.Context) *StartError {
	return &StartError{Reason: "gave up", Output: c.output.last(), Err: context.Cause(ctx)}
}

// keepSandbox registers a sandbox that is ready and watches it.
func (p *Provider) keepSandbox(c *child, took time.Duration) *Sandbox {
	p.estimates.add(c.madeFrom(), took)
	s := newSandbox(p, c, took)
	p.mu.Lock()
	p.sandboxes[s] = struct{}{}
	p.mu.Unlock()
	p.wg.Go(s.watch)
	return s
}

func (p *Provider) logError(what string, err error) {
	if err != nil {
		p.log.Error("clean-up failed", "step", what, "error", fmt.Sprint(err))
	}
}
