package fleet

import "github.com/open-lambda/open-lambda/policies"

// view is the fleet as a Placer sees it, with an index. Fleet.mu is held.
type view struct{ *Fleet }

// Nodes counts the places, most of which are empty.
func (v view) Nodes() int { return len(v.table) }

// Up tells whether the node at a place takes requests.
func (v view) Up(place int) bool {
	n := v.table[place]
	return n != nil && n.takes()
}

// InFlight counts the requests on a node.
func (v view) InFlight(place int) int { return v.table[place].inFlight() }

// View is the node at a place.
func (v view) View(place int) policies.View { return nodeView{v.table[place], v.Fleet} }

// Totals is part of placement.Index.
func (v view) Totals() (up, inFlight int) { return len(v.load.nodes), v.total }

// Least is part of placement.Index.
func (v view) Least() int {
	if len(v.load.nodes) == 0 {
		return -1
	}
	return v.load.nodes[0].place
}

// warmLook is how many warm nodes are compared: enough to spread the load,
// few enough for a function that is warm everywhere.
const warmLook = 8

// Warm is part of placement.Index.
func (v view) Warm(id policies.FuncID) int {
	fn := v.byID[id]
	if fn == nil || len(fn.warm) == 0 {
		return -1
	}
	best, bestLoad := -1, 0
	fn.turn++
	for i := range min(warmLook, len(fn.warm)) {
		n := fn.warm[(fn.turn+i)%len(fn.warm)].node
		if n.takes() && (best < 0 || n.inFlight() < bestLoad) {
			best, bestLoad = n.place, n.inFlight()
		}
	}
	return best
}

// nodeView adds to a node what is known of its functions.
type nodeView struct {
	*node
	fleet *Fleet
}

// Func describes a function on the node.
func (v nodeView) Func(id policies.FuncID) *policies.Func {
	if fn := v.fleet.byID[id]; fn != nil {
		if c := fn.cells[v.node]; c != nil {
			return &c.view
		}
	}
	return &policies.Func{ID: id}
}
