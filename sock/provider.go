package sock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/open-lambda/open-lambda/sock/cgroup"
)

// reapTime bounds the wait for the kernel to be done with killed processes.
const reapTime = 30 * time.Second

// cgroupsReady is how many control groups are kept ready beyond the pool's.
const cgroupsReady = 16

// Provider makes sandboxes and keeps what they are made from.
type Provider struct {
	cfg      Config
	log      *slog.Logger
	lock     *os.File // held while this process uses the directory
	null     *os.File
	driver   *cgroup.Driver
	groups   *cgroup.Pool
	spawner  *spawner
	nursery  *nursery // nil without a zygote
	pool     *pool
	tree     *tree
	users    *users
	networks networks

	estimates estimates
	usual     atomic.Pointer[cgroup.Limits] // of the last sandbox; nil before the first

	ctx    context.Context // ends when Close begins
	cancel context.CancelFunc
	keep   sync.WaitGroup // nursery and pool
	wg     sync.WaitGroup // every other goroutine

	mu        sync.Mutex
	closed    bool
	creating  sync.WaitGroup // added to under mu
	sandboxes map[*Sandbox]struct{}
}

// New removes what a killed predecessor left and gets ready to make
// sandboxes. The zygote and the pool come up in the background; Warm waits for
// them. It needs root.
func New(cfg Config) (_ *Provider, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	var u undo
	defer u.run()
	p := &Provider{cfg: cfg, log: cfg.Logger, sandboxes: map[*Sandbox]struct{}{}}
	if p.lock, err = lockDir(cfg.Dir); err != nil {
		return nil, err
	}
	u.add(func() { p.lock.Close() })
	if err := clean(context.Background(), cfg.Instance, cfg.Dir); err != nil {
		p.log.Warn("cannot remove everything that a predecessor left", "error", err)
	}
	if p.null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		return nil, fmt.Errorf("open null device: %w", err)
	}
	u.add(func() { p.null.Close() })
	if p.users, err = newUsers(); err != nil {
		return nil, err
	}
	u.add(func() { p.logError("give ids back", p.users.close()) })
	if err := p.openGroups(&u); err != nil {
		return nil, err
	}
	if err := p.openRoot(&u); err != nil {
		return nil, err
	}
	if cfg.Network == NetworkNAT {
		if _, err := p.openNAT(); err != nil {
			return nil, err
		}
	}
	u.release()
	p.raise()
	return p, nil
}

func (p *Provider) openGroups(u *undo) error {
	driver, err := cgroup.Open(p.cfg.Instance)
	if err != nil {
		return err
	}
	p.driver = driver
	u.add(func() { p.closeGroups() })
	p.groups = cgroup.NewPool(driver, "sandbox", p.cfg.Pool+cgroupsReady, p.cfg.ReuseCgroups)
	return p.groups.Fill()
}

func (p *Provider) openRoot(u *undo) error {
	stage := filepath.Join(p.cfg.Dir, "root")
	if err := os.MkdirAll(stage, 0o711); err != nil {
		return fmt.Errorf("make sandbox directory: %w", err)
	}
	r := &root{base: p.cfg.Base, stage: stage, runtime: p.cfg.Runtime}
	if p.cfg.Seccomp {
		early, late, err := seccompFilters()
		if err != nil {
			return err
		}
		r.filters = map[string][]byte{"early.bpf": early, "late.bpf": late}
	}
	p.users.lack = "switched off"
	s, err := newSpawner(r, p.cfg.Python, p.people, &p.wg)
	if err != nil {
		return err
	}
	p.spawner = s
	u.add(func() { s.close(); p.wg.Wait() })
	if p.cfg.UserNS && p.users.realm == nil {
		p.log.Warn("sandboxes get no user namespaces", "reason", p.users.lack)
	}
	if p.users.realm == nil {
		return nil
	}
	return p.driver.Delegate(int(p.users.block.First))
}

// people decides whether there are user namespaces, and names the users that
// there are. It runs on the spawner's thread.
func (p *Provider) people(s *spawner, r *root) error {
	if p.cfg.UserNS {
		realm, err := s.openRealm(p.users.block)
		if err != nil {
			p.users.lack = err.Error()
		}
		p.users.realm = realm
	}
	return r.people(p.users.names())
}

// raise starts the zygote and the pool.
func (p *Provider) raise() {
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.pool = newPool(p, p.cfg.Pool)
	p.tree = newTree(p)
	if !p.cfg.Zygote {
		return
	}
	p.nursery = newNursery(p)
	p.keep.Go(func() { p.tree.run(p.ctx) })
	p.keep.Go(func() { p.nursery.run(p.ctx) })
	p.keep.Go(func() { p.pool.run(p.ctx) })
}

// Warm waits until the zygote and the pool are ready.
func (p *Provider) Warm(ctx context.Context) error {
	if p.nursery == nil {
		return nil
	}
	for {
		z, changed := p.nursery.get()
		if z != nil {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for zygote: %w", ctx.Err())
		}
	}
	p.pool.poke()
	if err := p.pool.full(ctx); err != nil {
		return fmt.Errorf("wait for pool: %w", err)
	}
	return nil
}

// Describe says in one line what sandboxes are made of.
func (p *Provider) Describe() string {
	network := p.cfg.Network
	p.networks.mu.Lock()
	if p.networks.nat != nil {
		network += " (" + p.networks.nat.Describe() + ")"
	}
	p.networks.mu.Unlock()
	return fmt.Sprintf("base %s, network %s, %s, %s", p.cfg.Base, network, p.users.describe(), p.driver.Describe())
}

// begin admits one Create. The context ends with ctx or with the provider;
// end must be called.
func (p *Provider) begin(ctx context.Context) (_ context.Context, end func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, ErrClosed
	}
	p.creating.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(p.ctx, cancel)
	return ctx, func() { stop(); cancel(); p.creating.Done() }, nil
}

// Close destroys every sandbox and gives back what the host lent. ctx bounds
// the wait for sandboxes to go. Calling it again does nothing.
func (p *Provider) Close(ctx context.Context) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	p.creating.Wait()
	errs := []error{p.destroyAll(ctx)}
	p.keep.Wait()
	errs = append(errs, p.closeNetworks())
	p.spawner.close()
	p.wg.Wait()
	errs = append(errs, p.closeGroups(), clean(ctx, p.cfg.Instance, p.cfg.Dir), p.users.close())
	p.null.Close()
	p.lock.Close()
	return errors.Join(errs...)
}

func (p *Provider) destroyAll(ctx context.Context) error {
	p.mu.Lock()
	all := make([]*Sandbox, 0, len(p.sandboxes))
	for s := range p.sandboxes {
		all = append(all, s)
	}
	p.mu.Unlock()
	for _, s := range all {
		s.beginDestroy()
	}
	var errs []error
	for _, s := range all {
		errs = append(errs, s.Destroy(ctx))
	}
	return errors.Join(errs...)
}

func (p *Provider) closeGroups() error {
	ctx, cancel := context.WithTimeout(context.Background(), reapTime)
	defer cancel()
	var errs []error
	if p.groups != nil {
		errs = append(errs, p.groups.Close(ctx))
	}
	return errors.Join(append(errs, p.driver.Clean(ctx), p.driver.Close())...)
}

// removeGroup waits until a group is empty and removes it.
func (p *Provider) removeGroup(g *cgroup.Group) {
	ctx, cancel := context.WithTimeout(context.Background(), reapTime)
	defer cancel()
	err := g.Wait(ctx)
	if err == nil {
		err = g.Remove(ctx)
	}
	if err != nil {
		p.log.Error("cannot remove cgroup", "cgroup", g.Name(), "error", err)
	}
}

// exitReason says why a process that is gone ended.
func exitReason(proc *process, g *cgroup.Group) string {
	if kills, err := g.OOMKills(); err == nil && kills > 0 && proc.killed() {
		return "out of memory"
	}
	return proc.exitText()
}

// lockDir makes the directory and takes it for this process alone.
func lockDir(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return nil, fmt.Errorf("make sandbox directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock sandbox directory %s: %w", dir, ErrInUse)
	}
	return f, nil
}
