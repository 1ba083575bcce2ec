package fleet

import (
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/placement"
	"github.com/open-lambda/open-lambda/src/api"
)

// state is what a node is good for.
type state uint8

const (
	stateLost     state = iota // no connection
	stateUp                    // takes requests
	stateDraining              // connected, wants no more
	stateSuspect               // connected, and the last request did not get through
)

// String is the word of api.NodeState.
func (s state) String() string {
	return [...]string{"lost", "up", "draining", "suspect"}[s]
}

// node is one worker. Guarded by Fleet.mu.
type node struct {
	name, instance, url, version string
	setup                        *api.Setup

	session  *Session // nil: not connected
	suspect  bool     // a request could not be sent; until its next report
	draining bool     // by its own word

	hidden bool // from the placer, while it chooses for a request that was tried here

	state state // follows from the above
	since time.Time

	own       int // requests of this boss in flight
	others    int // requests of others, by its last report
	sent      int64
	sandboxes int
	usedMB    int64
	poolMB    int64

	cells map[*function]*cell
	place int // in Fleet.table
	heap  int // in Fleet.load, -1: not in it
	key   int // inFlight as the heap knows it
}

func (n *node) inFlight() int { return n.own + n.others }

// takes tells whether the placer may choose the node.
func (n *node) takes() bool { return n.state == stateUp && !n.hidden }

func (n *node) now() state {
	switch {
	case n.session == nil:
		return stateLost
	case n.draining:
		return stateDraining
	case n.suspect:
		return stateSuspect
	}
	return stateUp
}

// Now, Node and Sandbox complete policies.View: of another node's sandboxes a
// boss knows numbers only.
func (n *node) Now() policies.Time { return 0 }

func (n *node) Node() *policies.Node                         { return &policies.Node{PoolMB: n.poolMB} }
func (n *node) Sandbox(policies.SandboxID) *policies.Sandbox { return nil }

// settle gives a node a place. The place follows from the name, so that every
// boss has the same table, but for names that collide in another order.
func (f *Fleet) settle(n *node) {
	f.placed++
	if 4*f.placed > len(f.table) {
		f.grow()
	}
	f.put(n)
}

func (f *Fleet) put(n *node) {
	mask := len(f.table) - 1
	at := int(placement.Code(n.name)) & mask
	for f.table[at] != nil {
		at = (at + 1) & mask
	}
	f.table[at] = n
	n.place = at
}

func (f *Fleet) unsettle(n *node) {
	f.table[n.place] = nil
	f.placed--
}

// grow doubles the table. The nodes move in the order of their names.
func (f *Fleet) grow() {
	old := slices.DeleteFunc(f.table, func(n *node) bool { return n == nil })
	slices.SortFunc(old, func(a, b *node) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	size := 2 * len(f.table)
	for size < 4*f.placed {
		size *= 2
	}
	f.table = make([]*node, size)
	for _, n := range old {
		f.put(n)
	}
}
