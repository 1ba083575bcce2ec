package sock

import (
	"context"
	"sync"
	"time"
)

// Times of the tree.
const (
	refusedTime = 10 * time.Minute      // a recipe that failed is left alone
	forkGain    = 10 * time.Millisecond // what a child from the pool is faster than a fork
)

// wishes is how many zygotes may wait to be made; more are forgotten, for
// whoever needs one will ask again.
const wishes = 16

// tree holds the zygotes below the root zygote. They are made when a lambda
// that they would have served was started without, one at a time, and removed
// when the memory that they may have together is used up, least recently used
// first.
type tree struct {
	p      *Provider
	nodes  []TreeNode
	copies int // of one zygote, for several forks at the same time
	budget int64
	wanted chan *recipe

	mu      sync.Mutex
	live    map[string][]*treeZygote // by recipe
	refused map[string]time.Time     // by recipe: until when
	pending map[string]bool          // by recipe: waits to be made
}

// treeZygote is one live zygote of the tree.
type treeZygote struct {
	*zygote
	recipe *recipe
	loaded map[string]string // top-level module -> package; "" is the base
	saves  time.Duration     // what it and those above took to import
	bytes  int64             // charged to it when it was ready

	// Guarded by tree.mu.
	forks int // in progress
	used  time.Time
}

func newTree(p *Provider) *tree {
	return &tree{
		p: p, nodes: p.cfg.Tree, copies: max(p.cfg.TreeCopies, 1), budget: p.cfg.TreeMB << 20,
		wanted: make(chan *recipe, wishes), live: map[string][]*treeZygote{},
		refused: map[string]time.Time{}, pending: map[string]bool{},
	}
}

// choice is where a lambda's sandbox is to be forked from.
type choice struct {
	from *treeZygote // nil: nothing of the tree is better than the root zygote
	want *recipe     // what would be better still and is not there; nil: nothing
}

// choose finds the zygote that has most of what a lambda uses and nothing else.
// A zygote that it returns must be given back by done.
func (t *tree) choose(spec *Spec) choice {
	if len(t.nodes) == 0 {
		return choice{}
	}
	all := recipes(t.nodes, spec)
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.pick(all, spec)
	if c.from != nil {
		c.from.forks++
		c.from.used = time.Now()
	}
	return c
}

// peek returns the zygote that would be chosen now, nil if none would.
func (t *tree) peek(spec *Spec) *treeZygote {
	if len(t.nodes) == 0 {
		return nil
	}
	all := recipes(t.nodes, spec)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pick(all, spec).from
}

// pick decides between the recipes that suit a lambda. mu is held.
func (t *tree) pick(all []*recipe, spec *Spec) choice {
	var best, wanted recipe
	var c choice
	for _, r := range all {
		z := t.idlest(r.key)
		if z != nil && r.size > best.size && suits(z.loaded, spec) {
			c.from, best = z, *r
		}
		if z == nil && r.size > wanted.size && t.mayTry(r) {
			wanted = *r
		}
	}
	switch {
	case wanted.size > best.size:
		c.want = &wanted
	case c.from != nil && c.from.forks > 0 && len(t.live[best.key]) < t.copies:
		c.want = &best
	}
	return c
}

// idlest returns the copy with the fewest forks in progress, nil if there is
// none. mu is held.
func (t *tree) idlest(key string) (z *treeZygote) {
	for _, other := range t.live[key] {
		if z == nil || other.forks < z.forks {
			z = other
		}
	}
	return z
}

// mayTry tells whether neither a recipe nor one above it failed of late. mu is
// held.
func (t *tree) mayTry(r *recipe) bool {
	for ; r != nil; r = r.parent {
		if until, ok := t.refused[r.key]; ok && time.Now().Before(until) {
			return false
		}
	}
	return true
}

// done ends a use of a chosen zygote.
func (t *tree) done(z *treeZygote) {
	t.mu.Lock()
	defer t.mu.Unlock()
	z.forks--
}

// wish asks for a zygote to be made when there is time.
func (t *tree) wish(r *recipe) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r == nil || t.pending[r.key] {
		return
	}
	select {
	case t.wanted <- r:
		t.pending[r.key] = true
	default:
	}
}

// run makes the zygotes that are wished for until ctx ends, then ends them all.
func (t *tree) run(ctx context.Context) {
	defer t.drain()
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-t.wanted:
			if t.grow(ctx, r) {
				continue // admit took the wish back
			}
			t.mu.Lock()
			delete(t.pending, r.key)
			t.mu.Unlock()
		}
	}
}

func (t *tree) drain() {
	t.mu.Lock()
	var all []*treeZygote
	for _, copies := range t.live {
		all = append(all, copies...)
	}
	clear(t.live)
	t.mu.Unlock()
	for _, z := range all {
		t.p.bury(z.zygote)
	}
}
