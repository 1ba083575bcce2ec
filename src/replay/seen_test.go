package replay

import (
	"fmt"
	"testing"

	"github.com/open-lambda/open-lambda/boss/fleet"
	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/placement"
	"github.com/open-lambda/open-lambda/src/api"
)

// calm is a cluster in which nothing happens.
type calm struct {
	nodes int
	warm  map[policies.FuncID]int // the node that has a sandbox
}

func (c calm) Nodes() int                  { return c.nodes }
func (c calm) Up(int) bool                 { return true }
func (c calm) InFlight(int) int            { return 0 }
func (c calm) View(node int) policies.View { return calmNode{c, node} }

type calmNode struct {
	calm
	node int
}

func (n calmNode) Now() policies.Time                           { return 0 }
func (n calmNode) Node() *policies.Node                         { return &policies.Node{} }
func (n calmNode) Sandbox(policies.SandboxID) *policies.Sandbox { return nil }

func (n calmNode) Func(id policies.FuncID) *policies.Func {
	f := &policies.Func{ID: id}
	if at, ok := n.warm[id]; ok && at == n.node {
		f.Available = 1
	}
	return f
}

// The simulator sends every function where a boss does.
func TestSeenAsByABoss(t *testing.T) {
	for _, n := range []int{2, 3, 4, 9} {
		f, err := fleet.New(fleet.Config{Placer: placement.NewHash(placement.DefaultBound)})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("node%d", i+1))
			if _, err := f.Join(api.Hello{Link: api.LinkVersion, Name: names[i], Instance: "1", URL: "http://" + names[i]}); err != nil {
				t.Fatal(err)
			}
		}
		var lambdas []Lambda
		for i := range 300 {
			lambdas = append(lambdas, Lambda{Name: fmt.Sprintf("replay-%03d", i)})
		}
		p := asBoss(placement.NewHash(placement.DefaultBound), names, lambdas)
		for i, l := range lambdas {
			lease, err := f.Acquire(l.Name)
			if err != nil {
				t.Fatal(err)
			}
			lease.Done()
			if got := names[p.Place(calm{nodes: n}, policies.FuncID(i))]; got != lease.Worker {
				t.Errorf("%d nodes: %s goes to %s, the boss sends it to %s", n, l.Name, got, lease.Worker)
			}
		}
	}
}

// A placer that asks where a function is warm asks for the right one.
func TestSeenWarm(t *testing.T) {
	lambdas := []Lambda{{Name: "a"}, {Name: "b"}}
	p := asBoss(placement.WarmFirst{}, []string{"x", "y", "z"}, lambdas)
	for fn := range lambdas {
		for node := range 3 {
			if got := p.Place(calm{3, map[policies.FuncID]int{policies.FuncID(fn): node}}, policies.FuncID(fn)); got != node {
				t.Errorf("function %d is warm on %d, goes to %d", fn, node, got)
			}
		}
	}
}
