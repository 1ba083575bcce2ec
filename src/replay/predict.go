package replay

import (
	"container/heap"
	"fmt"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// Prediction is what the engine does with a workload in virtual time.
type Prediction struct {
	Span          time.Duration `json:"span_ns"` // until the last request ended
	Requests      int           `json:"requests"`
	Cold          int           `json:"cold"`
	Delayed       int           `json:"delayed"`
	Warm          int           `json:"warm"`
	Rejected      int           `json:"rejected"`
	Starts        int           `json:"starts"`           // sandboxes made, those for nobody included
	BusiestStarts int           `json:"busiest_starts"`   // most starts in one second
	Init          time.Duration `json:"init_ns"`          // initialisation of all starts together
	PeakMB        int64         `json:"peak_mb"`          // most memory charged at once
	OverheadMean  time.Duration `json:"overhead_mean_ns"` // of the requests that ran
	OverheadRatio float64       `json:"overhead_ratio"`   // mean of wait / (wait + exec), 0 to 1
}

// stepper is the part of an engine that a prediction drives.
type stepper interface {
	Step(now policies.Time, ev engine.Event, out []engine.Action) []engine.Action
	NextTimer() (policies.Time, bool)
}

// Predict drives an engine that nobody else uses through the workload. A start
// takes its lambda's Init plus overhead; destroying takes no time.
func Predict(e stepper, w Workload, overhead time.Duration) (Prediction, error) {
	p := &predictor{engine: e, workload: w, overhead: overhead, mb: make(map[policies.SandboxID]int64)}
	for i, l := range w.Lambdas {
		p.step(engine.Event{Kind: engine.EvDefine, Fn: policies.FuncID(i), Spec: policies.Spec{
			Revision: 1, MB: l.MemMB, Slots: 1, ColdEst: l.Init + overhead,
		}})
	}
	for i, q := range w.Requests {
		p.schedule(q.At, engine.Event{Kind: engine.EvArrive, Fn: policies.FuncID(q.Lambda), Req: policies.RequestID(i)})
	}
	return p.run()
}

// predictor is a prediction under way. Time 0 of the workload is time 1 of
// the engine, for which 0 means never.
type predictor struct {
	engine   stepper
	workload Workload
	overhead time.Duration
	now      time.Duration
	future   futures
	seq      int
	open     int // requests not answered yet
	actions  []engine.Action
	mb       map[policies.SandboxID]int64
	charged  int64
	second   time.Duration // the second that starts are being counted in
	inSecond int
	waits    time.Duration // of all requests that ran
	ratios   float64
	result   Prediction
}

func (p *predictor) schedule(at time.Duration, ev engine.Event) {
	p.seq++
	heap.Push(&p.future, future{at, p.seq, ev})
}

// run feeds events until every request is answered.
func (p *predictor) run() (Prediction, error) {
	p.open = len(p.workload.Requests)
	p.result.Requests = p.open
	for p.open > 0 {
		at, isTimer := p.engine.NextTimer()
		timer := time.Duration(at) - 1
		switch {
		case len(p.future) > 0 && (!isTimer || p.future[0].at <= timer):
			next := heap.Pop(&p.future).(future)
			p.now = next.at
			p.step(next.ev)
		case isTimer:
			p.now = max(p.now, timer)
			p.step(engine.Event{Kind: engine.EvTick})
		default:
			return p.result, fmt.Errorf("predict workload: %d requests are never answered", p.open)
		}
	}
	p.result.Span = p.now
	if ran := p.result.Requests - p.result.Rejected; ran > 0 {
		p.result.OverheadMean = p.waits / time.Duration(ran)
		p.result.OverheadRatio = p.ratios / float64(ran)
	}
	return p.result, nil
}

// step feeds one event and performs what the engine answers. What is done at
// once is fed back at once.
func (p *predictor) step(ev engine.Event) {
	if ev.Kind == engine.EvFinished {
		p.open--
	}
	p.actions = p.engine.Step(policies.Time(p.now)+1, ev, p.actions[:0])
	for _, a := range p.actions {
		p.perform(a)
	}
}

func (p *predictor) perform(a engine.Action) {
	switch a.Kind {
	case engine.ActStart:
		p.start(a)
	case engine.ActRun:
		exec := p.workload.Requests[a.Req].Exec
		p.count(a, exec)
		p.schedule(p.now+exec, engine.Event{Kind: engine.EvFinished, Req: a.Req, Sandbox: a.Sandbox, Dur: exec, OK: true})
	case engine.ActDestroy:
		p.charged -= p.mb[a.Sandbox]
		delete(p.mb, a.Sandbox)
		p.schedule(p.now, engine.Event{Kind: engine.EvGone, Sandbox: a.Sandbox})
	case engine.ActReject:
		p.open--
		p.result.Rejected++
	case engine.ActReshape:
		p.schedule(p.now, engine.Event{Kind: engine.EvReshaped, Sandbox: a.Sandbox, Form: a.Form, MB: p.mb[a.Sandbox]})
	}
}

func (p *predictor) start(a engine.Action) {
	init := p.workload.Lambdas[a.Fn].Init + p.overhead
	p.result.Starts++
	p.result.Init += init
	if s := p.now.Truncate(time.Second); s != p.second {
		p.second, p.inSecond = s, 0
	}
	p.inSecond++
	p.result.BusiestStarts = max(p.result.BusiestStarts, p.inSecond)
	p.mb[a.Sandbox] = a.MB
	p.charged += a.MB
	p.result.PeakMB = max(p.result.PeakMB, p.charged)
	p.schedule(p.now+init, engine.Event{Kind: engine.EvReady, Sandbox: a.Sandbox, Dur: init})
}

// count books a request that runs.
func (p *predictor) count(a engine.Action, exec time.Duration) {
	switch a.Start {
	case policies.Cold:
		p.result.Cold++
	case policies.Delayed:
		p.result.Delayed++
	case policies.Warm:
		p.result.Warm++
	}
	p.waits += a.Wait
	if total := a.Wait + exec; total > 0 {
		p.ratios += float64(a.Wait) / float64(total)
	}
}

// future is an event to come; ties are in order of scheduling.
type future struct {
	at  time.Duration
	seq int
	ev  engine.Event
}

// futures is a heap by time.
type futures []future

func (f futures) Len() int { return len(f) }
func (f futures) Less(i, j int) bool {
	return f[i].at < f[j].at || f[i].at == f[j].at && f[i].seq < f[j].seq
}
func (f futures) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *futures) Push(x any)   { *f = append(*f, x.(future)) }
func (f *futures) Pop() any {
	last := len(*f) - 1
	x := (*f)[last]
	*f = (*f)[:last]
	return x
}
