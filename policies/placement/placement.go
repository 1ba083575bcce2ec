package placement

import (
	"fmt"
	"math/rand/v2"
	"slices"
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

// Random takes any node, each alike.
type Random struct{ r *rand.Rand }

// Place draws among the nodes that are up.
func (r *Random) Place(c policies.ClusterView, _ policies.FuncID) int {
	up := 0
	for n := range c.Nodes() {
		if c.Up(n) {
			up++
		}
	}
	if up == 0 {
		return -1
	}
	k := r.r.IntN(up)
	for n := range c.Nodes() {
		if !c.Up(n) {
			continue
		}
		if k == 0 {
			return n
		}
		k--
	}
	return -1
}

// LeastLoaded takes the node with the fewest requests in flight, the first of
// equals.
type LeastLoaded struct{}

// Place looks at every node.
func (LeastLoaded) Place(c policies.ClusterView, _ policies.FuncID) int {
	best := -1
	for n := range c.Nodes() {
		if c.Up(n) && (best < 0 || c.InFlight(n) < c.InFlight(best)) {
			best = n
		}
	}
	return best
}

// DefaultBound is the load of a node, relative to the mean, beyond which a
// hash spills to the next node.
const DefaultBound = 1.25

// Hash is consistent hashing with bounded loads (Mirrokni, Thorup,
// Zadimoghaddam, SODA'18): a function goes to the first node of its own order
// of nodes that holds less than bound times the mean load. The order is that
// of rendezvous hashing, so that a node that comes or goes moves only its own
// functions. It keeps a function on few nodes, where its sandboxes are.
type Hash struct {
	bound float64
	order []int // scratch
}

// NewHash returns one with the given bound, which must be at least 1.
func NewHash(bound float64) *Hash { return &Hash{bound: max(1, bound)} }

// Place looks at every node that is up.
func (h *Hash) Place(c policies.ClusterView, fn policies.FuncID) int {
	h.order = h.order[:0]
	load := 1 // this request
	for n := range c.Nodes() {
		if c.Up(n) {
			h.order = append(h.order, n)
			load += c.InFlight(n)
		}
	}
	if len(h.order) == 0 {
		return -1
	}
	slices.SortFunc(h.order, func(a, b int) int {
		if x, y := weight(fn, a), weight(fn, b); x != y {
			if x > y {
				return -1
			}
			return 1
		}
		return a - b
	})
	limit := h.bound * float64(load) / float64(len(h.order))
	for _, n := range h.order {
		if float64(c.InFlight(n)+1) <= max(1, limit) {
			return n
		}
	}
	return h.order[0]
}

// weight is the rank of a node for a function: SplitMix64 of both.
func weight(fn policies.FuncID, node int) uint64 {
	x := uint64(uint32(fn))<<32 | uint64(uint32(node))
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// WarmFirst takes a node with an available sandbox of the function, the one
// with the fewest requests in flight, and otherwise hashes.
type WarmFirst struct{ hash *Hash }

// Place looks at every node.
func (w WarmFirst) Place(c policies.ClusterView, fn policies.FuncID) int {
	best := -1
	for n := range c.Nodes() {
		if !c.Up(n) || c.View(n).Func(fn).Available == 0 {
			continue
		}
		if best < 0 || c.InFlight(n) < c.InFlight(best) {
			best = n
		}
	}
	if best >= 0 {
		return best
	}
	return w.hash.Place(c, fn)
}
