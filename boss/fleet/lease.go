package fleet

import "log/slog"

// Lease is one request on one node. It is not safe for concurrent use.
type Lease struct {
	Worker string // name of the node
	URL    string // where it is reached

	fleet *Fleet
	cell  *cell
	tried *[]*node // shared by the leases of one request
	ended bool
}

// Acquire chooses a node for a request and counts the request there. ErrNoWorker
// is returned if there is none.
func (f *Fleet) Acquire(name string) (*Lease, error) {
	return f.acquire(name, new([]*node))
}

// Next chooses a node that the request of l has not been tried on, l having
// ended.
func (l *Lease) Next() (*Lease, error) { return l.fleet.acquire(l.cell.fn.name, l.tried) }

func (f *Fleet) acquire(name string, tried *[]*node) (*Lease, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn := f.function(name)
	f.skip(*tried, true)
	place := f.cfg.Placer.Place(view{f}, fn.id)
	f.skip(*tried, false)
	if place < 0 {
		f.release(fn)
		return nil, ErrNoWorker
	}
	n := f.table[place]
	c := fn.cell(n)
	n.own++
	n.sent++
	c.own++
	f.touched(c)
	f.refresh(n)
	return &Lease{Worker: n.name, URL: n.url, fleet: f, cell: c, tried: tried}, nil
}

// skip hides nodes from the placer, or shows them again, at the cost of these
// nodes alone. mu is held.
func (f *Fleet) skip(nodes []*node, hidden bool) {
	for _, n := range nodes {
		n.hidden = hidden
		f.load.place(n, n.takes(), &f.total)
	}
}

// Done takes back what was counted. It may be called again.
func (l *Lease) Done() {
	if l.ended {
		return
	}
	l.ended = true
	f := l.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	l.cell.node.own--
	l.cell.own--
	f.touched(l.cell)
	f.refresh(l.cell.node)
}

// Avoid ends the lease, and Next will choose another node.
func (l *Lease) Avoid() {
	l.Done()
	l.fleet.mu.Lock()
	defer l.fleet.mu.Unlock()
	*l.tried = append(*l.tried, l.cell.node)
}

// Suspect ends the lease of a request that did not get through: the node gets
// no more before its next report.
func (l *Lease) Suspect(why error) {
	l.Avoid()
	f, n := l.fleet, l.cell.node
	f.mu.Lock()
	defer f.mu.Unlock()
	if n.session == nil || n.suspect {
		return
	}
	n.suspect = true
	f.refresh(n)
	f.cfg.Logger.Warn("worker does not answer", slog.String("worker", n.name), slog.Any("error", why))
}
