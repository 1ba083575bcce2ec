package sock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/sock/cgroup"
)

// grow makes a zygote, and those above it that are missing. One that cannot be
// made is not tried again for a while: what would have been forked from it is
// forked from its parent. It says whether the zygote itself was made.
func (t *tree) grow(ctx context.Context, r *recipe) (made bool) {
	var path []*recipe
	for up := r; up != nil; up = up.parent {
		path = append(path, up)
	}
	var above *treeZygote
	for i, step := range slices.Backward(path) {
		t.mu.Lock()
		z := t.idlest(step.key)
		t.mu.Unlock()
		if z == nil || i == 0 && t.mayCopy(step) {
			var err error
			if z, err = t.add(ctx, step, above); err != nil {
				t.refuse(ctx, step, err)
				return false
			}
			made = i == 0
		}
		above = z
	}
	return made
}

// mayCopy tells whether there can be one more zygote of a kind.
func (t *tree) mayCopy(r *recipe) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.live[r.key]) < t.copies
}

// refuse notes a failure.
func (t *tree) refuse(ctx context.Context, r *recipe, err error) {
	if ctx.Err() != nil || errors.Is(err, errNoZygote) {
		return
	}
	t.p.log.Warn("cannot make zygote: its parent serves", slog.String("modules", strings.Join(r.modules(), " ")), slog.Any("error", err))
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for key, until := range t.refused {
		if now.After(until) {
			delete(t.refused, key)
		}
	}
	t.refused[r.key] = now.Add(refusedTime)
}

// add makes one zygote below another, or below the root if that is nil.
func (t *tree) add(ctx context.Context, r *recipe, above *treeZygote) (*treeZygote, error) {
	begun := time.Now()
	z, err := t.fork(r, above)
	if err != nil {
		return nil, err
	}
	n := &treeZygote{zygote: z, recipe: r, used: time.Now()}
	if err = t.raise(ctx, n); err == nil {
		if above != nil {
			n.saves += above.saves
		}
		err = t.admit(n)
	}
	if err != nil {
		t.p.bury(z)
		return nil, err
	}
	t.p.log.Info("made zygote", slog.String("modules", strings.Join(r.modules(), " ")), slog.Duration("took", time.Since(begun)),
		slog.Int64("mb", n.bytes>>20))
	t.p.wg.Go(func() { t.watch(n) })
	return n, nil
}

// fork lets a zygote fork another one.
func (t *tree) fork(r *recipe, above *treeZygote) (_ *zygote, err error) {
	parent, _ := t.p.nursery.get()
	if above != nil {
		parent = above.zygote
	}
	if parent == nil {
		return nil, errNoZygote
	}
	packages, err := packageMounts(r.packages, t.p.users.realm)
	if err != nil {
		return nil, err
	}
	defer packages.Close()
	z, ends, err := t.p.nursery.begin()
	if err != nil {
		return nil, err
	}
	defer ends.close()
	files := append([]*os.File{z.group.File(), ends.control, ends.output}, packages...)
	var pid, pidfd int
	if err = t.p.cfg.FaultAt(FaultZygote); err == nil {
		pid, pidfd, err = parent.ask(message{Op: "spawn", Packages: packageNames(r.packages)}, files...)
	}
	if err == nil {
		z.proc, err = newProcess(pid, pidfd, &t.p.wg)
	} else {
		t.p.reapStrays(z.group)
	}
	if err == nil {
		err = z.group.Attach(pid)
	}
	if err != nil {
		t.p.bury(z)
		return nil, fmt.Errorf("fork zygote: %w", err)
	}
	return z, nil
}

// raise has a new zygote import its modules, within the memory that the whole
// tree may have.
func (t *tree) raise(ctx context.Context, n *treeZygote) error {
	if err := n.group.SetLimits(cgroup.Limits{MemMB: t.budget >> 20}); err != nil {
		return err
	}
	answer, err := n.preload(ctx, message{Modules: n.recipe.modules()})
	if err != nil {
		select {
		case <-n.proc.done:
			return fmt.Errorf("%s: %w", exitReason(n.proc, n.group), err)
		default:
			return err
		}
	}
	if len(answer.Missing) > 0 {
		return fmt.Errorf("import %s", strings.Join(answer.Missing, "; "))
	}
	if threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", n.proc.pid)); err != nil || len(threads) != 1 {
		return fmt.Errorf("a fork would lose the threads that the import has started (%d)", len(threads))
	}
	n.loaded, n.saves = answer.Loaded, time.Duration(answer.Took*float64(time.Second))
	if n.bytes, err = n.group.Memory(); err != nil {
		return err
	}
	return n.group.SetLimits(cgroup.Limits{}) // as with the root zygote: children's page tables are charged to it
}

// admit makes a zygote known, having made room for it. From then on nobody waits
// for it: whoever finds it busy may wish for a copy.
func (t *tree) admit(n *treeZygote) error {
	t.mu.Lock()
	gone, err := t.makeRoom(n)
	if err == nil {
		t.live[n.recipe.key] = append(t.live[n.recipe.key], n)
		delete(t.pending, n.recipe.key)
	}
	t.mu.Unlock()
	for _, z := range gone {
		t.p.log.Info("removed zygote", slog.String("modules", strings.Join(z.recipe.modules(), " ")), slog.Int64("mb", z.bytes>>20))
		t.p.bury(z.zygote)
	}
	return err
}

// makeRoom takes zygotes out until a new one fits, and returns them. Those
// that it stands on stay, and those that are forking. mu is held.
func (t *tree) makeRoom(n *treeZygote) ([]*treeZygote, error) {
	total := n.bytes
	for _, copies := range t.live {
		for _, z := range copies {
			total += z.bytes
		}
	}
	var gone []*treeZygote
	for total > t.budget {
		z := t.leastUsed(n.recipe)
		if z == nil {
			return gone, fmt.Errorf("the zygotes of the tree need more than their %d MB (import_cache_mb)", t.budget>>20)
		}
		t.remove(z)
		gone = append(gone, z)
		total -= z.bytes
	}
	return gone, nil
}

// leastUsed is the zygote that was used longest ago, but for those on the path
// of r; nil if there is none. mu is held.
func (t *tree) leastUsed(r *recipe) *treeZygote {
	var best *treeZygote
	for key, copies := range t.live {
		if key == r.key || strings.HasPrefix(r.key, key+"/") {
			continue
		}
		for _, z := range copies {
			if z.forks == 0 && (best == nil || z.used.Before(best.used) || z.used.Equal(best.used) && z.recipe.key < best.recipe.key) {
				best = z
			}
		}
	}
	return best
}

// remove makes a zygote unknown; false if it was already. mu is held.
func (t *tree) remove(z *treeZygote) bool {
	copies := t.live[z.recipe.key]
	i := slices.Index(copies, z)
	if i < 0 {
		return false
	}
	if copies = slices.Delete(copies, i, i+1); len(copies) == 0 {
		delete(t.live, z.recipe.key)
		return true
	}
	t.live[z.recipe.key] = copies
	return true
}

// watch buries a zygote that ends by itself. It is made again when it is wished
// for.
func (t *tree) watch(z *treeZygote) {
	<-z.proc.done
	t.mu.Lock()
	known := t.remove(z)
	t.mu.Unlock()
	if known {
		t.p.log.Warn("zygote ended", slog.String("modules", strings.Join(z.recipe.modules(), " ")), slog.String("reason", exitReason(z.proc, z.group)))
		t.p.bury(z.zygote)
	}
}
