package runc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/sock"
	"github.com/open-lambda/open-lambda/sock/cgroup"
)

// Provider makes sandboxes that are OCI containers.
type Provider struct {
	cfg    Config
	log    *slog.Logger
	lock   *os.File // held while this process uses the directory
	driver *cgroup.Driver
	ids    *sock.UIDs
	roster *sock.Roster
	wg     sync.WaitGroup // every goroutine but the roster's

	mu   sync.Mutex
	next int         // number of the next container
	conn *connection // nil, or the last helper
}

// New removes what a killed predecessor left and starts the helper. It needs
// root. It fails with ErrNoHelper where the helper is not installed.
func New(cfg Config) (_ *Provider, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Helper == "" {
		if cfg.Helper, err = FindHelper(); err != nil {
			return nil, err
		}
	}
	p := &Provider{cfg: cfg, log: cfg.Logger, ids: sock.NewUIDs(cfg.UIDBase), roster: sock.NewRoster()}
	if p.lock, err = sock.LockDir(cfg.Dir); err != nil {
		return nil, err
	}
	if err := clean(context.Background(), cfg.Instance, cfg.Dir); err != nil {
		p.log.Warn("cannot remove everything that a predecessor left", "error", err)
	}
	if p.driver, err = cgroup.Open(cfg.Instance); err != nil {
		p.lock.Close()
		return nil, err
	}
	if _, err := p.helper(); err != nil {
		return nil, errors.Join(err, p.Close(context.Background()))
	}
	return p, nil
}

// helper returns the running helper, or starts one.
func (p *Provider) helper() (*connection, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil && p.conn.alive() {
		return p.conn, nil
	}
	folder, err := p.driver.Folder()
	if err != nil {
		return nil, err
	}
	conn, err := connect(p.cfg.Helper, p.log, &p.wg)
	if err != nil {
		return nil, err
	}
	p.conn = conn
	_, err = conn.call(Request{Op: OpOpen, Open: &Open{
		Protocol: Protocol, Dir: stateDir(p.cfg.Dir), Folder: folder, Base: p.cfg.Base, Python: p.cfg.Python,
		Network: p.cfg.Network, Seccomp: p.cfg.Seccomp, UIDBase: p.cfg.UIDBase,
	}})
	if err != nil {
		conn.kill()
		<-conn.gone
		return nil, fmt.Errorf("open %s: %w", p.cfg.Helper, err)
	}
	return conn, nil
}

// Describe says in one line what sandboxes are made of.
func (p *Provider) Describe() string {
	return fmt.Sprintf("OCI containers by %s, base %s, network %s, %s", p.cfg.Helper, p.cfg.Base, p.cfg.Network, p.driver.Describe())
}

// Create makes one sandbox and returns when it can serve: the lambda's code is
// loaded. It gives up, leaving nothing, when ctx ends. A failure is a
// *sock.StartError.
func (p *Provider) Create(ctx context.Context, spec sock.Spec) (*sock.Sandbox, error) {
	begin := time.Now()
	if err := spec.Validate(); err != nil {
		return nil, &sock.StartError{Reason: err.Error()}
	}
	ctx, end, err := p.roster.Begin(ctx)
	if err != nil {
		return nil, &sock.StartError{Reason: "shutting down", Err: err}
	}
	defer end()
	box, err := p.start(spec)
	if err != nil {
		return nil, sock.HostFault(err)
	}
	if err := box.become(ctx, spec); err != nil {
		box.discard()
		return nil, err
	}
	return p.roster.Keep(box, box.guest, time.Since(begin)), nil
}

// start makes a container whose process waits to be told what to become.
func (p *Provider) start(spec sock.Spec) (_ *container, err error) {
	code, err := sock.CodeMounts(spec)
	if err != nil {
		return nil, err
	}
	defer code.Close()
	conn, err := p.helper()
	if err != nil {
		return nil, err
	}
	guest, files, err := sock.NewGuest(p.ids, p.cfg.TmpMB, &p.wg)
	if err != nil {
		return nil, err
	}
	box := &container{p: p, conn: conn, id: p.nextID(), guest: guest, ended: make(chan struct{})}
	if err := box.run(spec, files, code); err != nil {
		box.lose() // there is no process, or it is of no use
		box.discard()
		return nil, err
	}
	return box, nil
}

func (p *Provider) nextID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	return fmt.Sprintf("container-%d", p.next)
}

// run has the helper create the container.
func (b *container) run(spec sock.Spec, files sock.GuestFiles, code sock.Files) error {
	defer b.guest.HandedOver(files)
	if err := b.conn.register(b); err != nil {
		return err
	}
	all := append(sock.Files{files.Control, files.Output, files.Listener, files.Scratch}, code...)
	answer, err := b.conn.call(Request{Op: OpStart, ID: b.id, Start: &Start{
		Hostname: spec.ID, UID: b.guest.UID(), TmpMB: b.p.cfg.TmpMB, ShmMB: b.p.cfg.ShmMB,
	}}, all...)
	if err != nil {
		return err
	}
	b.pid = answer.PID
	b.group, err = b.p.driver.Adopt(b.id)
	return err
}

// become waits for the process, limits it and turns it into the lambda.
func (b *container) become(ctx context.Context, spec sock.Spec) error {
	if err := b.guest.AwaitParked(ctx); err != nil {
		if ctx.Err() != nil {
			return &sock.StartError{Reason: "gave up", Err: context.Cause(ctx)}
		}
		return &sock.StartError{Reason: "host cannot make it", Output: b.guest.Printed(), Err: err}
	}
	limits := cgroup.Limits{MemMB: spec.MemMB, CPUPercent: spec.CPUPercent, Procs: spec.Procs}
	if _, err := b.conn.call(Request{Op: OpLimit, ID: b.id, Limits: &limits}); err != nil {
		return sock.HostFault(err)
	}
	return b.guest.Become(ctx, spec, b)
}

// discard removes a container that did not become a sandbox.
func (b *container) discard() {
	b.Kill()
	<-b.ended
	b.Remove()
}

// Close destroys every sandbox, ends the helper and gives back what the host
// lent. ctx bounds the wait. Calling it again does nothing.
func (p *Provider) Close(ctx context.Context) error {
	first, err := p.roster.Close(ctx)
	if !first {
		return nil
	}
	p.mu.Lock()
	conn := p.conn
	p.mu.Unlock()
	if conn != nil {
		conn.close(ctx)
	}
	p.roster.Wait()
	p.wg.Wait()
	errs := []error{err, p.driver.Clean(ctx), p.driver.Close(), removeState(p.cfg.Dir)}
	p.lock.Close()
	return errors.Join(errs...)
}

// stateDir is where the helper keeps its files.
func stateDir(dir string) string { return filepath.Join(dir, "oci") }
