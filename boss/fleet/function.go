package fleet

import (
	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/placement"
)

// function is a lambda that is somewhere, or asked for. Guarded by Fleet.mu.
type function struct {
	name  string
	id    policies.FuncID
	cells map[*node]*cell
	warm  []*cell // those with a free slot, in no order
	turn  int     // where the search among warm ones begins
}

// cell is one function on one node. Guarded by Fleet.mu.
type cell struct {
	fn   *function
	node *node
	view policies.Func // what placers see; Available is kept up to date

	sandboxes, slots int // by the last report
	own              int // requests of this boss in flight
	others           int // requests of others, by the last report
	warm             int // place in function.warm, -1: not in it
}

// function finds or makes a function. The id follows from the name, so that
// every boss hashes alike, but for names that collide.
func (f *Fleet) function(name string) *function {
	if fn := f.funcs[name]; fn != nil {
		return fn
	}
	id := policies.FuncID(placement.Code(name) >> 1)
	for f.byID[id] != nil {
		id = policies.FuncID((uint32(id) + 1) & (1<<31 - 1))
	}
	fn := &function{name: name, id: id, cells: map[*node]*cell{}}
	f.funcs[name], f.byID[id] = fn, fn
	return fn
}

func (fn *function) cell(n *node) *cell {
	c := fn.cells[n]
	if c == nil {
		c = &cell{fn: fn, node: n, warm: -1, view: policies.Func{ID: fn.id}}
		fn.cells[n], n.cells[fn] = c, c
	}
	return c
}

// touched computes what follows from a cell's numbers and drops it if they
// are all zero.
func (f *Fleet) touched(c *cell) {
	c.view.Available = max(c.slots-c.own-c.others, 0)
	c.fn.setWarm(c, c.view.Available > 0)
	if c.slots == 0 && c.own == 0 && c.others == 0 && c.sandboxes == 0 {
		delete(c.fn.cells, c.node)
		delete(c.node.cells, c.fn)
		f.release(c.fn)
	}
}

// release drops a function that is nowhere.
func (f *Fleet) release(fn *function) {
	if len(fn.cells) == 0 {
		delete(f.funcs, fn.name)
		delete(f.byID, fn.id)
	}
}

func (fn *function) setWarm(c *cell, warm bool) {
	switch {
	case warm && c.warm < 0:
		c.warm = len(fn.warm)
		fn.warm = append(fn.warm, c)
	case !warm && c.warm >= 0:
		last := len(fn.warm) - 1
		moved := fn.warm[last]
		fn.warm[c.warm] = moved
		moved.warm = c.warm
		fn.warm = fn.warm[:last]
		c.warm = -1
	}
}
