package faascache

import (
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/heap"
	"github.com/open-lambda/open-lambda/policies/stats"
)

// PeerOrder is the order in which a Peer evicts.
type PeerOrder uint8

// Orders.
const (
	PeerGD  PeerOrder = iota // Clock + Freq * Cost / Size
	PeerLRU                  // last use
	PeerTTL                  // last use, and Stale
)

// Peer is the evictor of faascache-sim, the simulator that FaasCache was
// published with (aFuerst/faascache-sim @ 25110b6), for comparing numbers with
// it. It differs from FaasCache: a use counts when a request comes, not when
// it begins to run; all sandboxes of a function carry the priority, or the
// stamp, of the function's last use; ties go to the sandbox that was created
// first. It belongs with coldstart.Scaler, Picker FirstCreated and
// engine.Config.DropFull, and with requests that never wait: with anything
// else it counts uses that were none.
type Peer struct {
	order PeerOrder
	clock float64
	funcs []peerFunc  // by FuncID
	uses  []int64     // by SandboxID
	idle  heap.Forest // tree FuncID: its idle sandboxes by age
	next  heap.Heap   // functions with idle sandboxes
}

type peerFunc struct {
	freq     int64 // uses of its live sandboxes
	priority float64
	last     policies.Time
}

// NewPeer returns an evictor that has seen nothing.
func NewPeer(order PeerOrder) *Peer { return &Peer{order: order} }

func (p *Peer) of(id policies.FuncID) *peerFunc {
	for int(id) >= len(p.funcs) {
		p.funcs = append(p.funcs, peerFunc{})
	}
	return &p.funcs[id]
}

// Insert adds an idle sandbox.
func (p *Peer) Insert(v policies.View, id policies.SandboxID) {
	b := v.Sandbox(id)
	p.idle.Set(int32(b.Fn), int32(id), heap.Key{C: b.Born})
	p.rekey(b.Fn)
}

// Remove takes one out.
func (p *Peer) Remove(v policies.View, id policies.SandboxID) {
	fn := v.Sandbox(id).Fn
	p.idle.Remove(int32(fn), int32(id))
	p.rekey(fn)
}

func (p *Peer) rekey(fn policies.FuncID) {
	_, k, ok := p.idle.Min(int32(fn))
	if !ok {
		p.next.Remove(int32(fn))
		return
	}
	p.next.Set(int32(fn), heap.Key{A: p.of(fn).priority, C: k.C})
}

// Next names the victim and sets the clock to its priority.
func (p *Peer) Next(policies.View, policies.Start) (policies.SandboxID, bool) {
	fn, k, ok := p.next.Min()
	if !ok {
		return policies.NoSandbox, false
	}
	p.clock = k.A
	id, _, _ := p.idle.Min(fn)
	return policies.SandboxID(id), true
}

// Expire never has anything: see Stale.
func (p *Peer) Expire(policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	return policies.NoSandbox, policies.FormGone, policies.Never
}

// Stale names the idle sandboxes of a function whose keep-alive ended before
// now. The peer looks only when the function is called.
func (p *Peer) Stale(v policies.View, fn policies.FuncID, now policies.Time) []policies.SandboxID {
	if p.order != PeerTTL || p.of(fn).last.Add(peerTTL) >= now {
		return nil
	}
	var all []policies.SandboxID
	for id := v.Func(fn).FirstAvailable; id != policies.NoSandbox; id = v.Sandbox(id).Next {
		if v.Sandbox(id).State == policies.Idle {
			all = append(all, id)
		}
	}
	return all
}

const peerTTL = 600 * time.Second

// Observe counts uses.
func (p *Peer) Observe(v policies.View, f policies.Fact) {
	switch f.Kind {
	case policies.FactStarted: // its first use comes with it
		for int(f.Sandbox) >= len(p.uses) {
			p.uses = append(p.uses, 0)
		}
		p.uses[f.Sandbox] = 0
		p.use(v, f)
	case policies.FactUsed:
		if f.Start == policies.Warm {
			p.use(v, f)
		}
	case policies.FactGone:
		p.of(f.Fn).freq -= p.uses[f.Sandbox]
		p.uses[f.Sandbox] = 0
	case policies.FactArrived, policies.FactReady, policies.FactFinished,
		policies.FactIdle, policies.FactEvicted, policies.FactDropped:
	}
}

func (p *Peer) use(v policies.View, f policies.Fact) {
	s, fn := p.of(f.Fn), v.Func(f.Fn)
	s.freq++
	p.uses[f.Sandbox]++
	s.last = v.Now()
	if p.order == PeerGD {
		s.priority = p.clock + float64(s.freq)*stats.Millis(fn.ColdNow)/float64(max(1, fn.Spec.MB))
	} else {
		s.priority = float64(v.Now())
	}
	p.rekey(f.Fn)
}
