package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/trace"
)

// epoch keeps moment 0 of a workload apart from policies.Never.
const epoch policies.Time = 1

// patience ends a run in which requests wait and nothing but timers happens.
const patience = time.Hour

// run is a simulation in progress.
type run struct {
	cfg       Config
	nodes     []*node
	now       policies.Time
	events    eventHeap
	ev        engine.Event    // being fed; here because hooks would make it escape
	functions []trace.Profile // those that the engines know
	random    *rand.Rand
	hash      hash
	m         metrics

	requests []request // by RequestID
	free     []policies.RequestID
	inFlight int

	end      policies.Time // of the workload's span in the pass that counts
	counting bool          // the pass that counts has begun
	arrivals int64
	future   *future
	err      error // of a hook
}

// request is an invocation that has not ended.
type request struct {
	fn       policies.FuncID
	node     int32
	sandbox  policies.SandboxID
	measured bool
	blocked  bool
	kind     policies.Kind
	arrived  policies.Time
	exec     time.Duration
	wait     time.Duration
}

// Run simulates. It fails on a configuration that makes no sense, on a broken
// workload, on a function larger than a node (*TooLargeError), on a hook's
// error and when the context ends.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	r := &run{cfg: cfg, now: epoch, random: rand.New(rand.NewPCG(cfg.Seed, 0x6f6c))}
	var oracle policies.Oracle
	if cfg.Future {
		f, err := newFuture(cfg.Workload, r)
		if err != nil {
			return nil, err
		}
		r.future, oracle = f, f
		r.cfg.Workload = f.workload(cfg.Workload)
	}
	for i := range cfg.Nodes {
		n, err := newNode(i, &cfg, oracle)
		if err != nil {
			return nil, err
		}
		r.nodes = append(r.nodes, n)
	}
	return r.passes(ctx)
}

// passes replays the workload once or twice.
func (r *run) passes(ctx context.Context) (*Result, error) {
	begin := epoch
	for pass := range 2 {
		last := pass == 1 || !r.cfg.Warmup
		if last {
			r.count(begin)
		}
		end, err := r.replay(ctx, begin)
		if err != nil {
			return nil, err
		}
		begin = end
		if last {
			break
		}
	}
	r.runUntil(begin, true)
	r.advance(begin)
	r.m.closed, r.end = true, begin
	if err := r.drain(ctx); err != nil {
		return nil, err
	}
	res := r.m.result(r)
	return res, r.verify(res)
}

// count resets every counter: the pass that counts begins.
func (r *run) count(begin policies.Time) {
	r.runUntil(begin, false)
	r.advance(begin)
	r.counting = true
	r.m.reset(begin)
	for _, n := range r.nodes {
		r.m.carry(n)
	}
	if r.cfg.Measured != nil {
		r.cfg.Measured()
	}
}

// replay feeds the workload from begin on, and returns the moment at which it
// ends: begin and its span, or just after its last arrival.
func (r *run) replay(ctx context.Context, begin policies.Time) (policies.Time, error) {
	s, err := r.cfg.Workload.Open()
	if err != nil {
		return 0, err
	}
	defer s.Close() //nolint:errcheck // read only: what failed to be read was reported
	if err := r.define(s); err != nil {
		return 0, err
	}
	at := begin
	var inv trace.Invocation // outside: it escapes
	for {
		ok, err := s.Next(&inv)
		switch {
		case err != nil:
			return 0, err
		case !ok:
			end := max(at+1, begin.Add(r.cfg.Workload.Span))
			return end, r.err
		case len(s.Functions()) > len(r.functions):
			if err := r.define(s); err != nil {
				return 0, err
			}
		}
		at = max(at, begin.Add(inv.At))
		r.runUntil(at, false)
		r.advance(at)
		r.arrive(&inv)
		if r.arrivals&progressMask == 0 {
			if err := r.look(ctx); err != nil {
				return 0, err
			}
		}
	}
}

const progressMask = 1<<13 - 1

func (r *run) look(ctx context.Context) error {
	if r.cfg.Progress != nil {
		r.cfg.Progress(r.arrivals)
	}
	if r.err != nil {
		return r.err
	}
	return context.Cause(ctx)
}

// define tells the engines about the functions that the stream has met.
func (r *run) define(s trace.Stream) error {
	for _, p := range s.Functions()[len(r.functions):] {
		spec := r.cfg.spec(p)
		if spec.MB > r.cfg.PoolMB {
			return &TooLargeError{p.Name, spec.MB, r.cfg.PoolMB}
		}
		id := policies.FuncID(len(r.functions))
		r.functions = append(r.functions, p)
		for _, n := range r.nodes {
			r.step(n, &engine.Event{Kind: engine.EvDefine, Fn: id, Spec: spec})
		}
	}
	return nil
}

// arrive hands a request to a node.
func (r *run) arrive(inv *trace.Invocation) {
	r.arrivals++
	fn, at := policies.FuncID(inv.Function), 0
	if len(r.nodes) > 1 {
		at = r.cfg.Placer.Place(cluster{r}, fn)
	}
	n := r.nodes[at]
	r.kill(n, fn)
	var id policies.RequestID
	if k := len(r.free); k > 0 {
		id = r.free[k-1]
		r.free = r.free[:k-1]
	} else {
		id = policies.RequestID(len(r.requests))
		r.requests = append(r.requests, request{})
	}
	r.requests[id] = request{fn: fn, node: n.id, sandbox: policies.NoSandbox, measured: r.counting, arrived: r.now, exec: inv.Exec}
	n.inFlight++
	r.inFlight++
	if r.counting {
		r.m.arrived++
	}
	if r.future != nil {
		r.future.arrived(fn)
	}
	r.ev = engine.Event{Kind: engine.EvArrive, Fn: fn, Req: id}
	r.step(n, &r.ev)
}

// kill lets sandboxes die that Config.Kill names, and what follows at once
// happen.
func (r *run) kill(n *node, fn policies.FuncID) {
	if r.cfg.Kill == nil {
		return
	}
	for _, id := range r.cfg.Kill(r.now, n.view, fn) {
		r.step(n, &engine.Event{Kind: engine.EvDied, Sandbox: id})
	}
	r.runUntil(r.now, false)
}

// runUntil lets everything happen that is due before the moment, and what is
// reported at the moment itself. With timers, those due at the moment run too.
func (r *run) runUntil(end policies.Time, timers bool) {
	for {
		n, tick := r.nextTimer()
		switch {
		case len(r.events.a) > 0 && r.events.a[0].at <= end && (tick == policies.Never || r.events.a[0].at <= tick):
			e := r.events.pop()
			r.advance(e.at)
			r.happen(&e)
		case tick != policies.Never && (tick < end || (timers && tick == end)):
			r.advance(tick)
			r.ev = engine.Event{Kind: engine.EvTick}
			r.step(n, &r.ev)
		default:
			return
		}
	}
}

func (r *run) nextTimer() (*node, policies.Time) {
	first := r.nodes[0]
	for _, n := range r.nodes[1:] {
		if n.timer != policies.Never && (first.timer == policies.Never || n.timer < first.timer) {
			first = n
		}
	}
	return first, first.timer
}

// advance moves the time and the integrals over it.
func (r *run) advance(to policies.Time) {
	if to > r.now {
		r.m.integrate(r.now, to)
		r.now = to
	}
}

// drain lets the requests end that are still there after the last arrival.
func (r *run) drain(ctx context.Context) error {
	for r.inFlight > 0 {
		limit := r.now.Add(patience)
		before := r.inFlight
		if len(r.events.a) > 0 {
			limit = r.events.a[0].at
		}
		r.runUntil(limit, true)
		if len(r.events.a) == 0 && r.inFlight == before {
			break // nothing but timers for an hour: they wait for ever
		}
		if err := r.look(ctx); err != nil {
			return err
		}
	}
	return r.err
}

// verify checks conservation.
func (r *run) verify(res *Result) error {
	if res.Arrived != res.Served+res.Rejected+res.Waiting {
		return fmt.Errorf("check simulation: arrived %d, served %d, rejected %d, waiting %d",
			res.Arrived, res.Served, res.Rejected, res.Waiting)
	}
	return nil
}
