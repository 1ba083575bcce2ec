package sim

import "github.com/open-lambda/open-lambda/policies"

// cluster is what a Placer sees of a run. Every node is up.
type cluster struct{ r *run }

func (c cluster) Nodes() int                  { return len(c.r.nodes) }
func (c cluster) Up(int) bool                 { return true }
func (c cluster) View(node int) policies.View { return c.r.nodes[node].view }
func (c cluster) InFlight(node int) int       { return c.r.nodes[node].inFlight }
