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

	"github.com/open-lambda/open-lambda/sock/ahead"
	"github.com/open-lambda/open-lambda/sock/cgroup"
	"github.com/open-lambda/open-lambda/sock/nat"
)

// reapTime bounds the wait for the kernel to be done with killed processes.
const reapTime = 30 * time.Second

// cgroupsReady is how many control groups are kept ready beyond the pool's.
const cgroupsReady = 32

// Provider makes sandboxes and keeps what they are made from.
type Provider struct {
	cfg      Config
	log      *slog.Logger
	lock     *os.File // held while this process uses the directory
	null     *os.File
	driver   *cgroup.Driver
	groups   *cgroup.Pool
	stock    *ahead.Filler // makes groups while nothing starts, with the limits that the last lambda got
	spawner  *spawner
	nursery  *nursery // nil without a zygote
	pool     *pool
	tree     *tree
	users    *Users
	networks *Networks
	alone    *nat.Alone // networks of NetworkNone if that is the provider's own, else nil
	netMaker *netMaker
	roster   *Roster

	estimates Estimates
	usual     atomic.Pointer[cgroup.Limits] // of the last sandbox; nil before the first

	keep sync.WaitGroup // nursery and pool
	wg   sync.WaitGroup // every other goroutine but the roster's
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
	p := &Provider{cfg: cfg, log: cfg.Logger, roster: NewRoster(&cfg)}
	if p.lock, err = LockDir(cfg.Dir); err != nil {
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
	if p.users, err = NewUsers(); err != nil {
		return nil, err
	}
	u.add(func() { p.logError("give ids back", p.users.Close()) })
	if err := p.openGroups(&u); err != nil {
		return nil, err
	}
	if err := p.openRoot(&u); err != nil {
		return nil, err
	}
	u.add(func() { p.logError("close networks", p.closeNetworks()) })
	if err := p.openNetworks(); err != nil {
		return nil, err
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
	p.stock = ahead.New("control groups", func() (bool, error) { return p.groups.Add(p.foresee) }, p.log)
	return nil
}

func (p *Provider) openRoot(u *undo) error {
	stage := filepath.Join(p.cfg.Dir, "root")
	if err := os.MkdirAll(stage, 0o711); err != nil {
		return fmt.Errorf("make sandbox directory: %w", err)
	}
	r, err := newRoot(p.cfg, stage)
	if err != nil {
		return err
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
	p.pool = newPool(p, p.cfg.Pool)
	p.keep.Go(func() { p.stock.Run(p.roster.ctx) })
	p.tree = newTree(p)
	if !p.cfg.Zygote {
		return
	}
	p.nursery = newNursery(p)
	p.keep.Go(func() { p.tree.run(p.roster.ctx) })
	p.keep.Go(func() { p.nursery.run(p.roster.ctx) })
	p.keep.Go(func() { p.pool.run(p.roster.ctx) })
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
	return fmt.Sprintf("base %s, network %s, %s, %s", p.cfg.Base, p.networks.Describe(p.cfg.Network), p.users.describe(), p.driver.Describe())
}

// Close destroys every sandbox and gives back what the host lent. ctx bounds
// the wait for sandboxes to go. Calling it again does nothing.
func (p *Provider) Close(ctx context.Context) error {
	first, err := p.roster.Close(ctx)
	if !first {
		return nil
	}
	p.keep.Wait()
	errs := []error{err, p.closeNetworks()}
	p.spawner.close()
	p.roster.Wait()
	p.wg.Wait()
	errs = append(errs, p.closeGroups(), clean(ctx, p.cfg.Instance, p.cfg.Dir), p.users.Close())
	p.null.Close()
	p.lock.Close()
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
func exitReason(proc *process, g *cgroup.Group) string { return proc.exit().Reason(g) }

// LockDir makes the directory and takes it for this process alone, until the
// file is closed. It fails with ErrInUse while another process has it.
func LockDir(dir string) (*os.File, error) {
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
