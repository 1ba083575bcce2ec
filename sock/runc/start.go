package runc

import (
	"context"
	"fmt"

	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/sock/cgroup"
)

// prepare makes all of a container but the container: the helper, the place of
// the process, its network. It must be discarded.
func (p *Provider) prepare(network string) (*container, error) {
	if network == "" {
		network = p.cfg.Network
	}
	conn, err := p.helper()
	if err != nil {
		return nil, err
	}
	if err := p.cfg.FaultAt(sock.FaultNetwork); err != nil {
		return nil, err
	}
	lease, err := p.nets.Lend(network)
	if err != nil {
		return nil, err
	}
	guest, files, err := p.newGuest()
	if err != nil {
		p.nets.GiveBack(lease)
		return nil, err
	}
	return &container{
		p: p, conn: conn, id: p.nextID(), guest: guest, files: files, network: network, lease: lease,
		ended: make(chan struct{}),
	}, nil
}

func (p *Provider) newGuest() (*sock.Guest, sock.GuestFiles, error) {
	for _, at := range []sock.FaultPoint{sock.FaultScratch, sock.FaultControl} {
		if err := p.cfg.FaultAt(at); err != nil {
			return nil, sock.GuestFiles{}, err
		}
	}
	return sock.NewGuest(p.users, p.cfg.TmpMB, &p.wg, p.log)
}

func (p *Provider) nextID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	return fmt.Sprintf("container-%d", p.next)
}

// become makes the container, waits for its process, limits it and turns it
// into the lambda.
func (b *container) become(ctx context.Context, spec sock.Spec) error {
	if err := b.p.cfg.FaultAt(sock.FaultMount); err != nil {
		return sock.HostFault(err)
	}
	code, err := sock.CodeMounts(spec)
	if err != nil {
		return sock.HostFault(err)
	}
	defer code.Close()
	if err := b.start(ctx, spec, code, false); err != nil {
		return err
	}
	return b.guest.Become(ctx, spec, b)
}

// runJob does the same for a job, and waits for its end.
func (b *container) runJob(ctx context.Context, job sock.Job, spec sock.Spec) error {
	code, err := sock.JobMounts(b.guest, job, nil)
	if err != nil {
		return fmt.Errorf("run job: %w", err)
	}
	defer code.Close()
	if err := b.start(ctx, spec, code, true); err != nil {
		return fmt.Errorf("run job: %w", err)
	}
	return b.guest.Execute(ctx, job, b)
}

// start makes a container whose process has its limits and waits to be told
// what to become. A failure is a *sock.StartError.
func (b *container) start(ctx context.Context, spec sock.Spec, code sock.Files, writable bool) error {
	if err := b.p.cfg.FaultAt(sock.FaultFork); err != nil {
		return sock.HostFault(err)
	}
	if err := b.run(spec, code, writable); err != nil {
		return sock.HostFault(err)
	}
	if err := b.guest.AwaitParked(ctx); err != nil {
		if ctx.Err() != nil {
			return &sock.StartError{Reason: "gave up", Err: context.Cause(ctx)}
		}
		return &sock.StartError{Reason: "host cannot make it", Output: b.guest.Printed(), Err: err}
	}
	if err := b.p.cfg.FaultAt(sock.FaultCgroup); err != nil {
		return sock.HostFault(err)
	}
	limits := cgroup.Limits{MemMB: spec.MemMB, CPUPercent: spec.CPUPercent, Procs: spec.Procs}
	if _, err := b.conn.call(Request{Op: OpLimit, ID: b.id, Limits: &limits}); err != nil {
		return sock.HostFault(err)
	}
	return nil
}

// run has the helper create the container.
func (b *container) run(spec sock.Spec, code sock.Files, writable bool) error {
	if err := b.conn.register(b); err != nil {
		return err
	}
	all := append(sock.Files{b.files.Control, b.files.Output, b.files.Listener, b.files.Scratch}, code...)
	if b.lease != nil {
		all = append(all, b.lease.File())
	}
	var names []string
	for _, p := range spec.Packages {
		names = append(names, p.Name)
	}
	answer, err := b.conn.call(Request{Op: OpStart, ID: b.id, Start: &Start{
		Hostname: spec.ID, UID: b.guest.UID(), TmpMB: b.p.cfg.TmpMB, ShmMB: b.p.cfg.ShmMB,
		Network: b.network, Lent: b.lease != nil, Packages: names, Writable: writable,
	}}, all...)
	b.guest.HandedOver(b.files)
	b.handedOver = true
	if err != nil {
		return err
	}
	b.pid = answer.PID
	b.group, err = b.p.driver.Adopt(b.id)
	return err
}

// discard removes a container that did not become a sandbox.
func (b *container) discard() {
	if b.pid == 0 {
		b.lose() // there is no process
	}
	b.Kill()
	<-b.ended
	b.Remove()
}
