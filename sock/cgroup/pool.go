package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
)

// residue is the memory, in bytes, that may stay charged to a group that is
// used again; a group with more is removed instead.
const residue = 1 << 20

// Pool keeps groups ready, because making one costs about a millisecond where
// the controllers are v1.
type Pool struct {
	driver *Driver
	prefix string
	reuse  bool
	size   int

	mu   sync.Mutex
	free []*Group
	next int
}

// NewPool returns a pool that keeps at most size groups, named prefix-N. With
// reuse, returned groups are handed out again.
func NewPool(d *Driver, prefix string, size int, reuse bool) *Pool {
	return &Pool{driver: d, prefix: prefix, size: size, reuse: reuse}
}

// Fill makes groups until the pool is full.
func (p *Pool) Fill() error {
	for {
		made, err := p.Add(func(*Group) error { return nil })
		if err != nil || !made {
			return err
		}
	}
}

// Add makes one more group unless the pool is full, and prepares it. It says
// whether it did.
func (p *Pool) Add(prepare func(*Group) error) (bool, error) {
	p.mu.Lock()
	full := len(p.free) >= p.size
	p.mu.Unlock()
	if full {
		return false, nil
	}
	g, err := p.make()
	if err != nil {
		return false, err
	}
	if err := prepare(g); err != nil {
		_ = g.removeDirs() // just made and empty; the first error says more
		g.Close()
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, g)
	return true, nil
}

// Len is the number of groups that are ready.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.free)
}

// Get takes a group that is ready, or makes one.
func (p *Pool) Get() (*Group, error) {
	p.mu.Lock()
	if n := len(p.free); n > 0 {
		g := p.free[n-1]
		p.free = p.free[:n-1]
		p.mu.Unlock()
		return g, nil
	}
	p.mu.Unlock()
	return p.make()
}

func (p *Pool) make() (*Group, error) {
	p.mu.Lock()
	p.next++
	name := fmt.Sprintf("%s-%d", p.prefix, p.next)
	p.mu.Unlock()
	return p.driver.Make(name)
}

// Put gives back a group whose processes are gone. It is kept if it is as good
// as new, else removed.
func (p *Pool) Put(ctx context.Context, g *Group) error {
	if p.reuse && g.renew() == nil {
		p.mu.Lock()
		keep := len(p.free) < p.size
		if keep {
			p.free = append(p.free, g)
		}
		p.mu.Unlock()
		if keep {
			return nil
		}
	}
	return g.Remove(ctx)
}

// Close removes the groups that are ready.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	free := p.free
	p.free, p.size = nil, 0
	p.mu.Unlock()
	var first error
	for _, g := range free {
		if err := g.Remove(ctx); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// renew makes a used group look new; it fails when it cannot.
func (g *Group) renew() error {
	g.mu.Lock()
	spent := g.spent
	g.mu.Unlock()
	if spent {
		return errors.New("reuse cgroup: it was killed")
	}
	if entries, err := os.ReadDir(g.unified); err != nil || hasDir(entries) {
		return errors.New("reuse cgroup: it has groups inside")
	}
	if err := writeFile(g.unified, "cgroup.freeze", "0"); err != nil {
		return fmt.Errorf("reuse cgroup: %w", err)
	}
	if err := g.settleMemory(); err != nil {
		return fmt.Errorf("reuse cgroup: %w", err)
	}
	return g.mark()
}

// settleMemory reports an error when memory of the former user stays charged.
// Asking the kernel to let go of it is dear, so it is done only when needed.
func (g *Group) settleMemory() error {
	mem, err := readInt(g.home(memory), g.memoryFile())
	if err == nil && mem > residue && !g.v2[memory] {
		if err = writeFile(g.v1[memory], "memory.force_empty", "0"); err == nil {
			mem, err = readInt(g.v1[memory], g.memoryFile())
		}
	}
	if err == nil && mem > residue {
		err = fmt.Errorf("%d bytes stay charged", mem)
	}
	return err
}

// mark takes the present counters as zero.
func (g *Group) mark() error {
	kills, err := g.oomTotal()
	if err != nil {
		return fmt.Errorf("read cgroup oom kills: %w", err)
	}
	used, err := g.cpuMicros()
	if err != nil {
		return fmt.Errorf("read cgroup cpu: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.oomStart, g.cpuStart = kills, used
	return nil
}

func hasDir(entries []os.DirEntry) bool {
	for _, e := range entries {
		if e.IsDir() {
			return true
		}
	}
	return false
}
