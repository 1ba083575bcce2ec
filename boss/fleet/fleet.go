package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/placement"
	"github.com/open-lambda/open-lambda/src/api"
)

// ErrNoWorker: no worker is up that was not tried before.
var ErrNoWorker = errors.New("no worker can take the request")

// Config is what a Fleet needs.
type Config struct {
	Placer policies.Placer
	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: silent
	// Keep is how long a lost worker is still shown; 0: 10 min.
	Keep time.Duration
	// Grace is how long after New a request may wait for the first worker,
	// since those that are there join again within that time; 0: 3 s.
	Grace time.Duration
}

// Fleet is the workers of a cluster as one boss sees them.
type Fleet struct {
	cfg   Config
	young <-chan time.Time // fires once, at the end of the grace
	first chan struct{}    // closed when the first worker has joined, or the grace is over
	once  sync.Once

	mu     sync.Mutex
	up     chan struct{} // closed, and replaced, when a node comes up
	nodes  map[string]*node
	table  []*node // by place; nil: free. A power of two long, at most a quarter taken
	placed int     // nodes that have a place
	funcs  map[string]*function
	byID   map[policies.FuncID]*function
	load   loadHeap // nodes that are up
	total  int      // requests in flight on nodes that are up
	swept  time.Time
}

// New makes a fleet without workers.
func New(cfg Config) (*Fleet, error) {
	if cfg.Placer == nil {
		return nil, errors.New("make fleet: a placer is required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Keep == 0 {
		cfg.Keep = 10 * time.Minute
	}
	if cfg.Grace == 0 {
		cfg.Grace = api.LostAfter
	}
	return &Fleet{
		cfg: cfg, young: time.After(cfg.Grace), first: make(chan struct{}), up: make(chan struct{}), nodes: map[string]*node{}, table: make([]*node, placement.LeastTable),
		funcs: map[string]*function{}, byID: map[policies.FuncID]*function{},
	}, nil
}

// ConflictError is a join under the name of another worker that is there.
type ConflictError struct{ Name, URL string }

// Error says who has the name.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("a worker named %s is there already, at %s: give one of them another name", e.Name, e.URL)
}

// Join takes a worker in, or takes it in again. A *ConflictError is returned
// while another one of that name is connected.
func (f *Fleet) Join(h api.Hello) (*Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget()
	n := f.nodes[h.Name]
	if n != nil && n.session != nil && n.instance != h.Instance {
		return nil, &ConflictError{Name: h.Name, URL: n.url}
	}
	if n == nil {
		n = &node{name: h.Name, cells: map[*function]*cell{}, place: -1, heap: -1}
		f.nodes[h.Name] = n
		f.settle(n)
	}
	n.instance, n.url, n.version, n.setup = h.Instance, h.URL, h.Version, h.Setup
	s := &Session{fleet: f, node: n}
	n.session, n.suspect = s, false
	f.apply(n, h.Load, true)
	f.ripen()
	f.cfg.Logger.Info("worker joined", slog.String("worker", n.name), slog.String("url", n.url))
	return s, nil
}

func (f *Fleet) ripen() { f.once.Do(func() { close(f.first) }) }

// AwaitFirst waits while the fleet is new and nobody has joined; false if ctx
// ended before, or if it was waited for already: whoever finds no worker then
// finds none.
func (f *Fleet) AwaitFirst(ctx context.Context) bool {
	select {
	case <-f.first:
		return false
	default:
	}
	select {
	case <-f.first:
		return true
	case <-f.young:
		f.ripen()
		return false
	case <-ctx.Done():
		return false
	}
}

// hopeEvery is how often it is looked at whether waiting is of use.
const hopeEvery = 250 * time.Millisecond

// AwaitAny waits until a node comes up, as long as one may soon: one that did
// not answer a request and has not reported since, or one whose connection was
// lost a moment ago. A machine that is too busy loses connections to healthy
// workers, who come back. false: none came.
func (f *Fleet) AwaitAny(ctx context.Context) bool {
	tick := time.NewTicker(hopeEvery)
	defer tick.Stop()
	for {
		up, hope := f.hope()
		switch {
		case f.Up() > 0: // since the caller looked
			return true
		case !hope:
			return false
		}
		select {
		case <-up:
			return true
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
}

// hope tells whether a node may come up soon, and what is closed when one does.
func (f *Fleet) hope() (up <-chan struct{}, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.cfg.Now()
	for _, n := range f.nodes {
		if n.state == stateSuspect || n.state == stateLost && now.Sub(n.since) < f.cfg.Grace {
			return f.up, true
		}
	}
	return nil, false
}

// Session is the connection of a worker.
type Session struct {
	fleet *Fleet
	node  *node
}

// Report takes over what the worker says. false: another session has taken
// this one's place, which should end.
func (s *Session) Report(r api.Report) bool {
	f := s.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.node.session != s {
		return false
	}
	s.node.suspect = false
	f.apply(s.node, r.Load, false)
	return true
}

// Leave ends the session: the node is lost until it joins again.
func (s *Session) Leave(why error) {
	f := s.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.node.session != s {
		return
	}
	s.node.session = nil
	f.apply(s.node, api.Load{Draining: s.node.draining, PoolMB: s.node.poolMB}, true)
	f.cfg.Logger.Warn("worker lost", slog.String("worker", s.node.name), slog.Any("error", why))
}

// forget drops nodes that were lost long ago. It looks at all of them, so only
// now and then. mu is held.
func (f *Fleet) forget() {
	now := f.cfg.Now()
	if now.Sub(f.swept) < time.Second {
		return
	}
	f.swept = now
	for name, n := range f.nodes {
		if n.state == stateLost && n.own == 0 && now.Sub(n.since) > f.cfg.Keep {
			f.unsettle(n)
			delete(f.nodes, name)
		}
	}
}

// apply takes over a load: of everything if whole, else of what it names.
// mu is held.
func (f *Fleet) apply(n *node, l api.Load, whole bool) {
	n.usedMB, n.poolMB, n.draining = l.UsedMB, l.PoolMB, l.Draining
	// What is neither ours nor ended came from others: other bosses, clients.
	n.others = max(l.InFlight-n.own, 0)
	if whole {
		for fn, c := range n.cells {
			if _, named := l.Functions[fn.name]; !named {
				f.report(n, c, api.FunctionLoad{})
			}
		}
	}
	for name, fl := range l.Functions {
		fn := f.function(name)
		f.report(n, fn.cell(n), fl)
	}
	f.refresh(n)
}

// report takes over the load of one function on one node. mu is held.
func (f *Fleet) report(n *node, c *cell, l api.FunctionLoad) {
	n.sandboxes += l.Sandboxes - c.sandboxes
	c.sandboxes, c.slots, c.others = l.Sandboxes, l.Slots, max(l.InFlight-c.own, 0)
	f.touched(c)
}

// refresh computes what follows from a node's facts: its state, and whether
// and where it stands in the heap. mu is held.
func (f *Fleet) refresh(n *node) {
	was := n.state
	n.state = n.now()
	if n.state != was || n.since.IsZero() {
		n.since = f.cfg.Now()
		if n.state == stateUp {
			close(f.up)
			f.up = make(chan struct{})
		}
	}
	f.load.place(n, n.takes(), &f.total)
}

// Nodes describes every worker, in no order.
func (f *Fleet) Nodes() []api.NodeState {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget()
	out := make([]api.NodeState, 0, len(f.nodes))
	for _, n := range f.nodes {
		out = append(out, api.NodeState{
			Name: n.name, URL: n.url, Version: n.version, State: n.state.String(), Since: n.since,
			InFlight: n.inFlight(), Sandboxes: n.sandboxes, UsedMB: n.usedMB, PoolMB: n.poolMB, Sent: n.sent, Setup: n.setup,
		})
	}
	return out
}

// Up counts the workers that take requests.
func (f *Fleet) Up() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.load.nodes)
}
