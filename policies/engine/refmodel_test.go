package engine_test

import (
	"cmp"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// refModel is a second engine, written from the rules and not from the
// engine's code: plain slices that are scanned and sorted whenever something
// must be known, no counters that could go wrong. It is what the engine is
// compared with. Sandboxes are named by their order of creation, from 0.
type refModel struct {
	cfg   refConfig
	now   policies.Time
	pool  int64
	fns   []*refFn
	boxes []*refBox // every sandbox ever started, by name
	reqs  map[policies.RequestID]*refReq
	fifo  []*refWish // starts that wait for memory or a slot
	back  []*refWish // starts that wait out a back-off
	seq   uint64     // of wishes
	turn  int        // order of uses
	nreq  int        // order of arrivals
	out   []engine.Action
	scale refScaler
	evict refEvictor
}

type refConfig struct {
	pool           int64
	slots          int // start slots
	starve         time.Duration
	queue          int
	scaler, victim string
}

type refFn struct {
	id      policies.FuncID
	spec    policies.Spec
	defined bool
	arrived int64
	first   policies.Time
	again   policies.Time
	told    time.Duration // the driver's estimate of a start, 0 without
}

// coldNow is the driver's estimate, before that the specification's.
func (f *refFn) coldNow() time.Duration { return cmp.Or(f.told, f.spec.ColdEst) }

type refState int

const (
	refStarting refState = iota
	refIdle
	refBusy
	refDying
	refGone
)

type refBox struct {
	name                      policies.SandboxID
	fn                        *refFn
	wish                      *refWish
	rev                       uint32
	mb                        int64
	slots                     int
	state                     refState
	draining                  bool
	reason                    engine.Reason
	bound                     *refReq
	running                   []*refReq
	uses                      int64
	served                    bool // a request ended in it
	started, readyAt, lastUse policies.Time
	turn                      int // when it was last used, in order
	busyTurn                  int // when its busy turn began, in order
}

// live: a sandbox of the present revision that serves, or will.
func (b *refBox) live() bool {
	return !b.draining && (b.state == refStarting || b.state == refIdle || b.state == refBusy)
}

func (b *refBox) available() bool {
	return b.live() && b.state != refStarting && len(b.running) < b.slots &&
		(!b.fn.spec.OneShot || len(b.running) == 0)
}

type refReq struct {
	id      policies.RequestID
	order   int
	fn      *refFn
	arrived policies.Time
	waiting bool
	waited  bool
	blocked bool
	wish    *refWish // bound to a start without memory
	box     *refBox  // bound to a sandbox being provisioned
	outcome policies.Outcome
	spoilt  int
}

type refWish struct {
	seq      uint64
	fn       *refFn
	mb       int64
	req      *refReq
	attempts int
	wanted   policies.Time
	due      policies.Time // end of the back-off
	evicted  []float64     // priorities of the sandboxes that made way for it
}

// refScaler is a scaler as the specification states it.
type refScaler interface {
	blocked(m *refModel, r *refReq) (start int, bind bool, again policies.Time, o policies.Outcome)
	recheck(m *refModel, f *refFn) (start int, again policies.Time)
	started(m *refModel, b *refBox)
	ready(m *refModel, b *refBox)
	used(m *refModel, b *refBox)
	finished(m *refModel, f *refFn, exec time.Duration)
	evicted(m *refModel, b *refBox)
	gone(m *refModel, b *refBox)
}

// refEvictor orders the idle sandboxes anew whenever it is asked.
type refEvictor interface {
	// order is the order of eviction as far as it is known: asked again
	// when that many have gone.
	order(m *refModel) ([]*refBox, []float64)
	victim(m *refModel, b *refBox, priority float64) // b is about to go
	due(m *refModel, b *refBox) policies.Time        // when it expires; Never
	started(m *refModel, b *refBox)
	ready(m *refModel, b *refBox)
	used(m *refModel, b *refBox)
	gone(m *refModel, b *refBox)
}

func newRef(cfg refConfig) *refModel {
	return &refModel{
		cfg: cfg, pool: cfg.pool, reqs: map[policies.RequestID]*refReq{},
		scale: newRefScaler(cfg.scaler), evict: newRefEvictor(cfg.victim),
	}
}

// Counts, each by a scan.

func (m *refModel) of(f *refFn, ok func(*refBox) bool) (list []*refBox) {
	for _, b := range m.boxes {
		if b.fn == f && ok(b) {
			list = append(list, b)
		}
	}
	return list
}

func (m *refModel) live(f *refFn) int { return len(m.of(f, (*refBox).live)) }

func (m *refModel) starting(f *refFn) int {
	return len(m.of(f, func(b *refBox) bool { return b.state == refStarting }))
}

// coming: sandboxes being provisioned that late-bound requests may expect.
func (m *refModel) coming(f *refFn) int {
	return len(m.of(f, func(b *refBox) bool { return b.state == refStarting && b.bound == nil }))
}

func (m *refModel) sumMB(ok func(*refBox) bool) (mb int64) {
	for _, b := range m.boxes {
		if b.state != refGone && ok(b) {
			mb += b.mb
		}
	}
	return mb
}

func (m *refModel) free() int64 { return m.pool - m.sumMB(func(*refBox) bool { return true }) }

func (m *refModel) dying() int64 {
	return m.sumMB(func(b *refBox) bool { return b.state == refDying })
}

func (m *refModel) idle() int64 {
	return m.sumMB(func(b *refBox) bool { return b.state == refIdle })
}

func (m *refModel) wishes(f *refFn) (list []*refWish) {
	for _, w := range append(slices.Clone(m.fifo), m.back...) {
		if w.fn == f {
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b *refWish) int { return int(a.seq) - int(b.seq) })
	return list
}

func (m *refModel) queued(f *refFn) int { return len(m.wishes(f)) }

func (m *refModel) waiting(f *refFn, ok func(*refReq) bool) (list []*refReq) {
	for _, r := range m.reqs {
		if r.fn == f && r.waiting && ok(r) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *refReq) int { return a.order - b.order })
	return list
}

func anyReq(*refReq) bool { return true }

func isLate(r *refReq) bool { return r.wish == nil && r.box == nil }

func (m *refModel) late(f *refFn) []*refReq { return m.waiting(f, isLate) }

// bound: to starts that have no memory yet.
func (m *refModel) bound(f *refFn) []*refReq {
	return m.waiting(f, func(r *refReq) bool { return r.wish != nil })
}

func (m *refModel) room(f *refFn) int {
	if f.spec.Max == 0 {
		return 1 << 30
	}
	return max(0, f.spec.Max-m.live(f)-m.queued(f))
}

// fit: what is idle goes while a smaller pool holds too much.
func (m *refModel) fit() {
	for m.free()+m.dying() < 0 && m.idle() > 0 {
		boxes, prio := m.evict.order(m)
		for i, b := range boxes {
			if m.free()+m.dying() >= 0 {
				return
			}
			m.evict.victim(m, b, prio[i])
			m.evictBox(b, engine.ReasonResize)
		}
	}
}
