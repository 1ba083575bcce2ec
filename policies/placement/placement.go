package placement

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/open-lambda/open-lambda/policies"
)

// Names lists the placers, in the order in which they are shown.
func Names() []string {
	return []string{"round-robin", "random", "least-loaded", "hash", "warm-first"}
}

// UnknownError is a name that is not in Names.
type UnknownError struct{ Name string }

// Error names what is known.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown placer %q; known: %s", e.Name, strings.Join(Names(), ", "))
}

// New makes a placer. The seed is for random. An unknown name is an
// *UnknownError.
func New(name string, seed uint64) (policies.Placer, error) {
	switch name {
	case "round-robin":
		return &RoundRobin{}, nil
	case "random":
		return &Random{rand.New(rand.NewPCG(seed, 0x706c))}, nil
	case "least-loaded":
		return LeastLoaded{}, nil
	case "hash":
		return NewHash(DefaultBound), nil
	case "warm-first":
		return WarmFirst{NewHash(DefaultBound)}, nil
	}
	return nil, &UnknownError{name}
}

// RoundRobin takes one node after the other, as OpenLambda does.
type RoundRobin struct{ next int }

// Place takes the next node that is up.
func (r *RoundRobin) Place(c policies.ClusterView, _ policies.FuncID) int {
	for range c.Nodes() {
		n := r.next % c.Nodes()
		r.next = n + 1
		if c.Up(n) {
			return n
		}
	}
	return -1
}

// Index is what a ClusterView of many nodes offers besides, so that a choice
// need not look at all of them. Its answers are those that a look at every
// node would give, but for ties.
type Index interface {
	Totals() (up, inFlight int)  // over the nodes that are up
	Least() int                  // a node that is up with the fewest in flight, -1 if none is
	Warm(fn policies.FuncID) int // a little loaded node that is up with an available sandbox, -1 if none has
}

// totals counts the nodes that are up and what is in flight on them.
func totals(c policies.ClusterView) (up, inFlight int) {
	if x, ok := c.(Index); ok {
		return x.Totals()
	}
	for n := range c.Nodes() {
		if c.Up(n) {
			up++
			inFlight += c.InFlight(n)
		}
	}
	return up, inFlight
}

// least finds the node with the fewest requests in flight among those that
// fit, the first of equals.
func least(c policies.ClusterView, fit func(node int) bool) int {
	best := -1
	for n := range c.Nodes() {
		if c.Up(n) && (best < 0 || c.InFlight(n) < c.InFlight(best)) && fit(n) {
			best = n
		}
	}
	return best
}

func leastOfAll(c policies.ClusterView) int {
	if x, ok := c.(Index); ok {
		return x.Least()
	}
	return least(c, func(int) bool { return true })
}

// Random takes any node, each alike.
type Random struct{ r *rand.Rand }

// Place draws until it meets a node that is up, and counts them if it does
// not soon.
func (r *Random) Place(c policies.ClusterView, _ policies.FuncID) int {
	if c.Nodes() == 0 {
		return -1
	}
	for range tries {
		if n := r.r.IntN(c.Nodes()); c.Up(n) {
			return n
		}
	}
	up := make([]int, 0, c.Nodes())
	for n := range c.Nodes() {
		if c.Up(n) {
			up = append(up, n)
		}
	}
	if len(up) == 0 {
		return -1
	}
	return up[r.r.IntN(len(up))]
}

// tries is how many places are drawn before a search looks at every node. In
// a table of which a quarter is up it fails once in ten thousand times.
const tries = 32

// LeastLoaded takes the node with the fewest requests in flight, the first of
// equals.
type LeastLoaded struct{}

// Place takes the index' word, or looks at every node.
func (LeastLoaded) Place(c policies.ClusterView, _ policies.FuncID) int { return leastOfAll(c) }

// DefaultBound is the load of a node, relative to the mean, beyond which a
// hash spills to the next node.
const DefaultBound = 1.25

// Hash is consistent hashing with bounded loads (Mirrokni, Thorup,
// Zadimoghaddam, SODA'18): a function goes to the first node of its own order
// of nodes that holds less than bound times the mean load. The order is a
// pseudo-random walk over all places, up or not, so that a node that comes or
// goes moves only its own functions, and the walk is short however many nodes
// there are. It keeps a function on few nodes, where its sandboxes are.
type Hash struct{ bound float64 }

// NewHash returns one with the given bound, which must be at least 1.
func NewHash(bound float64) *Hash { return &Hash{bound: max(1, bound)} }

// Place walks until it meets a node below the bound, and takes the least
// loaded if it does not soon.
func (h *Hash) Place(c policies.ClusterView, fn policies.FuncID) int {
	up, load := totals(c)
	if up == 0 {
		return -1
	}
	limit := max(1, h.bound*float64(load+1)/float64(up))
	for k := range tries {
		n := int(weight(fn, k) % uint64(c.Nodes()))
		if c.Up(n) && float64(c.InFlight(n)+1) <= limit {
			return n
		}
	}
	return leastOfAll(c)
}

// weight is the k-th step of a function's walk: SplitMix64 of both.
func weight(fn policies.FuncID, k int) uint64 {
	x := uint64(uint32(fn))<<32 | uint64(uint32(k))
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// WarmFirst takes a node with an available sandbox of the function, the one
// with the fewest requests in flight, and otherwise hashes.
type WarmFirst struct{ hash *Hash }

// Place takes the index' word for the warm node, or looks at every node.
func (w WarmFirst) Place(c policies.ClusterView, fn policies.FuncID) int {
	if n := warmest(c, fn); n >= 0 {
		return n
	}
	return w.hash.Place(c, fn)
}

func warmest(c policies.ClusterView, fn policies.FuncID) int {
	if x, ok := c.(Index); ok {
		return x.Warm(fn)
	}
	return least(c, func(n int) bool { return c.View(n).Func(fn).Available > 0 })
}
