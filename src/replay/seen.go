package replay

import (
	"slices"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/placement"
)

// asBoss makes a placer choose among a simulator's nodes as it does in a boss,
// which knows nodes and functions by their names: places in a table, of which
// most are empty, and ids that follow from the names. Names of nodes are in the
// order of the simulator's nodes.
func asBoss(p policies.Placer, nodes []string, lambdas []Lambda) policies.Placer {
	b := &bossPlacer{inner: p, index: map[policies.FuncID]policies.FuncID{}}
	size := placement.LeastTable
	for 4*len(nodes) > size {
		size *= 2
	}
	b.nodes = slices.Repeat([]int{-1}, size)
	for i, name := range nodes {
		at := int(placement.Code(name)) & (size - 1)
		for b.nodes[at] >= 0 {
			at = (at + 1) & (size - 1)
		}
		b.nodes[at] = i
	}
	for i, l := range lambdas {
		id := policies.FuncID(placement.Code(l.Name) >> 1)
		b.ids = append(b.ids, id)
		b.index[id] = policies.FuncID(i)
	}
	return b
}

type bossPlacer struct {
	inner policies.Placer
	nodes []int                               // the node at a place, -1: none
	ids   []policies.FuncID                   // of the boss, by the simulator's
	index map[policies.FuncID]policies.FuncID // the other way
}

// Place is part of policies.Placer.
func (b *bossPlacer) Place(c policies.ClusterView, fn policies.FuncID) int {
	place := b.inner.Place(bossView{b, c}, b.ids[fn])
	if place < 0 {
		return place
	}
	return b.nodes[place]
}

// bossView is the simulator's nodes at their places.
type bossView struct {
	b     *bossPlacer
	inner policies.ClusterView
}

func (v bossView) Nodes() int { return len(v.b.nodes) }

func (v bossView) Up(place int) bool { return v.b.nodes[place] >= 0 && v.inner.Up(v.b.nodes[place]) }

func (v bossView) InFlight(place int) int { return v.inner.InFlight(v.b.nodes[place]) }

func (v bossView) View(place int) policies.View {
	return bossNode{v.inner.View(v.b.nodes[place]), v.b}
}

// bossNode is a node whose functions are asked for by the boss' ids.
type bossNode struct {
	policies.View
	b *bossPlacer
}

// Func is part of policies.View.
func (n bossNode) Func(id policies.FuncID) *policies.Func { return n.View.Func(n.b.index[id]) }
