package sock

import "github.com/open-lambda/open-lambda/sock/cgroup"

// takeGroup gets a control group, one that was made ahead if there is any.
func (p *Provider) takeGroup() (*cgroup.Group, error) {
	p.stock.Taken()
	return p.groups.Get()
}

// foresee gives a group the limits that the last lambda got: most have the same,
// and setting them takes half a dozen writes.
func (p *Provider) foresee(g *cgroup.Group) error {
	if l := p.usual.Load(); l != nil {
		return g.SetLimits(*l)
	}
	return nil
}
