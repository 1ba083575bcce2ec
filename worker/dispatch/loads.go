package dispatch

import "github.com/open-lambda/open-lambda/src/api"

// Load sums up what the node has to do, for those who spread requests over
// nodes. Sandboxes of older revisions are left out: they serve nobody new.
func (d *Dispatcher) Load() api.Load {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := api.Load{
		InFlight: d.calls.live, UsedMB: d.usedMB, PoolMB: d.cfg.PoolMB, Draining: d.closing,
		Functions: map[string]api.FunctionLoad{},
	}
	for _, b := range d.boxes {
		if b == nil || b.state != ready || b.rev != b.fn.current {
			continue
		}
		f := l.Functions[b.fn.name]
		f.Sandboxes++
		f.Slots += max(b.rev.Engine.Slots, 1)
		l.Functions[b.fn.name] = f
	}
	for _, c := range d.calls.all {
		if c.fn != nil {
			f := l.Functions[c.fn.name]
			f.InFlight++
			l.Functions[c.fn.name] = f
		}
	}
	return l
}
