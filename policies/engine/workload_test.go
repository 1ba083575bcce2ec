package engine_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// workload is a random run: what is fed at given moments, and how sandboxes
// behave, as a function of their names and of the seed alone.
type workload struct {
	seed   uint64
	cfg    refConfig
	fns    []policies.Spec
	script []planned
	exec   []time.Duration // by request
	gone   time.Duration   // from Destroy to EvGone
	faults bool
}

type planned struct {
	at  policies.Time
	seq int
	ev  engine.Event
}

// dice gives a number that depends on the seed and on what is asked.
func (w *workload) dice(what, n, sides int) int {
	return rand.New(rand.NewPCG(w.seed, uint64(what)<<32|uint64(n))).IntN(sides)
}

const (
	diceCold = iota
	diceFail
	diceEnd
	diceDie
)

func newWorkload(seed uint64, scaler, victim string) *workload {
	r := rand.New(rand.NewPCG(seed, 1))
	w := &workload{seed: seed, gone: time.Duration(r.IntN(3)*10) * ms, faults: r.IntN(3) == 0}
	w.cfg = refConfig{pool: int64(100 + r.IntN(300)), scaler: scaler, victim: victim}
	if r.IntN(4) == 0 {
		w.cfg.slots = 1 + r.IntN(3)
	}
	if r.IntN(4) == 0 {
		w.cfg.queue = 1 + r.IntN(10)
	}
	if r.IntN(4) == 0 {
		w.cfg.starve = time.Duration(100+r.IntN(2000)) * ms
	}
	for range 1 + r.IntN(6) {
		w.fns = append(w.fns, randomSpec(r))
	}
	at := policies.Time(1)
	add := func(ev engine.Event) {
		w.script = append(w.script, planned{at: at, seq: len(w.script), ev: ev})
	}
	for range 30 + r.IntN(120) {
		w.event(r, at, add)
		at = at.Add(pause(r))
	}
	slices.SortStableFunc(w.script, func(a, b planned) int { return cmp.Compare(a.at, b.at) })
	return w
}

func randomSpec(r *rand.Rand) policies.Spec {
	s := policies.Spec{Revision: 1, MB: int64(20 + 10*r.IntN(9)), Slots: 1}
	if r.IntN(4) == 0 {
		s.Slots = 1 + r.IntN(4)
	}
	if r.IntN(4) == 0 {
		s.Max = 1 + r.IntN(3)
	}
	s.OneShot = r.IntN(10) == 0
	if r.IntN(2) == 0 {
		s.ColdEst = time.Duration(50+r.IntN(300)) * ms
	}
	return s
}

// pause is mostly short, sometimes nothing, seldom longer than a keep-alive.
func pause(r *rand.Rand) time.Duration {
	switch r.IntN(20) {
	case 0, 1, 2, 3:
		return 0
	case 4:
		return time.Duration(r.IntN(60)) * time.Second
	case 5:
		if r.IntN(4) == 0 {
			return time.Duration(r.IntN(20)) * time.Minute
		}
	}
	return time.Duration(10*r.IntN(40)) * ms
}

func (w *workload) event(r *rand.Rand, at policies.Time, add func(engine.Event)) {
	fn := policies.FuncID(r.IntN(len(w.fns)))
	switch k := r.IntN(100); {
	case k < 3:
		s := w.fns[fn]
		s.Revision = uint32(2 + r.IntN(1000))
		s.MB = int64(20 + 10*r.IntN(9))
		add(engine.Event{Kind: engine.EvDefine, Fn: fn, Spec: s})
	case k < 4:
		add(engine.Event{Kind: engine.EvForget, Fn: fn})
		add(engine.Event{Kind: engine.EvArrive, Fn: fn, Req: w.request(r)})
		add(engine.Event{Kind: engine.EvDefine, Fn: fn, Spec: w.fns[fn]})
	case k < 5:
		// At a moment of its own: whether a start that goes on evicting at
		// the same moment goes on in the same order is nobody's business.
		w.script = append(w.script, planned{at: at + 1 + policies.Time(len(w.script)), seq: len(w.script), ev: engine.Event{
			Kind: engine.EvResize, MB: w.cfg.pool * int64(50+r.IntN(100)) / 100,
		}})
	case k < 7:
		add(engine.Event{Kind: engine.EvEstimate, Fn: fn, Dur: time.Duration(1+r.IntN(400)) * ms})
	default:
		id := w.request(r)
		add(engine.Event{Kind: engine.EvArrive, Fn: fn, Req: id})
		if r.IntN(8) == 0 {
			w.script = append(w.script, planned{
				at: at.Add(time.Duration(r.IntN(500)) * ms), seq: len(w.script),
				ev: engine.Event{Kind: engine.EvCancel, Req: id},
			})
		}
	}
}

func (w *workload) request(r *rand.Rand) policies.RequestID {
	w.exec = append(w.exec, time.Duration(10*r.IntN(60))*ms)
	return policies.RequestID(len(w.exec) - 1)
}
