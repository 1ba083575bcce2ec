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

// networksAhead is how many network namespaces are kept ready, once one was
// asked for.
const networksAhead = 4

// Provider makes sandboxes that are OCI containers.
type Provider struct {
	cfg    Config
	log    *slog.Logger
	lock   *os.File // held while this process uses the directory
	driver *cgroup.Driver
	users  *sock.Users
	nets   *sock.Networks
	roster *sock.Roster
	taken  sock.Estimates
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
	p := &Provider{cfg: cfg, log: cfg.Logger, roster: sock.NewRoster(&cfg.Config)}
	if p.lock, err = sock.LockDir(cfg.Dir); err != nil {
		return nil, err
	}
	if p.users, err = sock.NewUsers(); err != nil {
		p.lock.Close()
		return nil, err
	}
	p.nets = sock.NewNetworks(cfg.Config, p.users, networksAhead, nil)
	if err := clean(context.Background(), cfg.Instance, cfg.Dir); err != nil {
		p.log.Warn("cannot remove everything that a predecessor left", "error", err)
	}
	if p.driver, err = cgroup.Open(cfg.Instance); err != nil {
		p.lock.Close()
		return nil, errors.Join(err, p.users.Close())
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
	block := p.users.Block()
	_, err = conn.call(Request{Op: OpOpen, Open: &Open{
		Protocol: Protocol, Dir: stateDir(p.cfg.Dir), Folder: folder, Base: p.cfg.Base, Python: p.cfg.Python,
		Seccomp: p.cfg.Seccomp, Users: Range{block.First, block.Count},
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
	return fmt.Sprintf("OCI containers by %s, base %s, network %s, %s", p.cfg.Helper, p.cfg.Base, p.nets.Describe(p.cfg.Network), p.driver.Describe())
}

// Create makes one sandbox and returns when it can serve: the lambda's code is
// loaded. It gives up, leaving nothing, when ctx ends. A failure is a
// *sock.StartError.
func (p *Provider) Create(ctx context.Context, spec sock.Spec) (*sock.Sandbox, error) {
	s, took, err := p.roster.Start(ctx, spec, func(ctx context.Context) (sock.Body, *sock.Guest, error) {
		box, err := p.prepare(spec.Network)
		if err != nil {
			return nil, nil, sock.HostFault(err)
		}
		if err := box.become(ctx, spec); err != nil {
			box.discard()
			return nil, nil, err
		}
		return box, box.guest, nil
	})
	if err == nil {
		p.taken.Add(sock.Fresh, took)
	}
	return s, err
}

// Estimate says what Create would take now: as long as starts have taken of
// late. False before the first.
func (p *Provider) Estimate(sock.Spec) (time.Duration, bool) { return p.taken.First(sock.Fresh) }

// Run runs a job to its end, in a container of its own. It is killed when ctx
// ends. Whatever it did to its directory, everything there belongs to root
// afterwards. A job that ran and failed is a *sock.JobError; every other error
// is the host's or of ctx.
func (p *Provider) Run(ctx context.Context, job sock.Job) error {
	return p.roster.Work(ctx, job, func(ctx context.Context, spec sock.Spec) error {
		box, err := p.prepare(job.Network)
		if err != nil {
			return fmt.Errorf("run job: %w", err)
		}
		defer box.discard()
		return box.runJob(ctx, job, spec)
	})
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
	errs := []error{err, p.nets.Close(), p.driver.Clean(ctx), p.driver.Close(), removeState(p.cfg.Dir), p.users.Close()}
	p.lock.Close()
	return errors.Join(errs...)
}

// stateDir is where the helper keeps its files.
func stateDir(dir string) string { return filepath.Join(dir, "oci") }
