package cidreplus

import (
	"errors"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/stats"
)

// Predict says what a busy sandbox's remaining time is taken from.
type Predict uint8

// Predictions.
const (
	Remaining Predict = iota // E[X | X > elapsed] - elapsed
	Median                   // max(0, median - elapsed): the ablation
)

// ScaleConfig is what can be set about the scaler.
type ScaleConfig struct {
	Theta     float64 // start if the wait exceeds Theta * T_p
	Predict   Predict
	Timer     bool          // bound the wait of the head by T_p before everybody gets a start
	Cancel    bool          // give up starts that nobody waits for
	Spare     float64       // start as well if Spare times the new sandbox's worth exceeds what it displaces; 0 is never
	ColdPerMB time.Duration // T_p without samples and without an estimate, per MB
}

// DefaultScale returns the configuration of the preset cidre+.
func DefaultScale() ScaleConfig {
	return ScaleConfig{Theta: 1, Timer: true, Cancel: true, Spare: 1, ColdPerMB: stats.DefaultColdPerMB}
}

// ExpectedWait is the scaler.
type ExpectedWait struct {
	cfg    ScaleConfig
	value  *Marginal // what sandboxes are worth, nil if the evictor does not say
	funcs  []history // by FuncID
	counts [4]int64  // started, waited, cancelled, by the timer
}

type history struct {
	exec, cold stats.Recent
}

// NewExpectedWait returns a scaler without observations. It fails on a theta
// or a spare below 0 and on a cost that is not positive.
func NewExpectedWait(cfg ScaleConfig) (*ExpectedWait, error) {
	if cfg.Theta < 0 || cfg.Spare < 0 || cfg.ColdPerMB <= 0 {
		return nil, errors.New("make expected-wait: theta and spare must not be negative, the cold start per MB longer than 0")
	}
	return &ExpectedWait{cfg: cfg}, nil
}

func (e *ExpectedWait) of(id policies.FuncID) *history {
	for int(id) >= len(e.funcs) {
		e.funcs = append(e.funcs, history{})
	}
	return &e.funcs[id]
}

// Join lets the scaler ask the evictor what sandboxes are worth.
func (e *ExpectedWait) Join(m *Marginal) { e.value = m }

// Blocked starts a sandbox if that is sooner than waiting, or if the sandbox
// is worth its memory anyway.
func (e *ExpectedWait) Blocked(v policies.View, r policies.Request) (policies.Verdict, policies.Outcome) {
	f := v.Func(r.Fn)
	tp := coldStart(&e.of(r.Fn).cold, f, e.cfg.ColdPerMB)
	verdict := policies.Verdict{Again: e.again(f, tp)}
	if e.start(v, f, tp) {
		verdict.Start = 1
		e.counts[0]++
	} else {
		e.counts[1]++
	}
	return verdict, nil
}

func (e *ExpectedWait) start(v policies.View, f *policies.Func, tp time.Duration) bool {
	u := f.Waiting - f.Provisioning - f.Queued
	if u <= 0 {
		return false
	}
	if f.BusyCount == 0 {
		return true
	}
	wait, ok := e.wait(v, f, u)
	return !ok || float64(wait) > e.cfg.Theta*float64(tp) || e.spare(v, f, f.Live+f.Queued+1)
}

// spare reports whether the function's n-th sandbox is worth its memory.
func (e *ExpectedWait) spare(v policies.View, f *policies.Func, n int) bool {
	return e.value != nil && e.cfg.Spare > 0 && e.value.worth(v, f, n, e.cfg.Spare)
}

// fewBusy is the number of busy sandboxes up to which each is looked at.
const fewBusy = 32

// wait predicts how long the u-th waiting request will wait for a busy
// sandbox, false if nothing is known of the function's executions.
func (e *ExpectedWait) wait(v policies.View, f *policies.Func, u int) (time.Duration, bool) {
	x := &e.of(f.ID).exec
	mean, ok := x.Mean()
	if !ok {
		return 0, false
	}
	mean /= time.Duration(max(1, f.Spec.Slots)) // a sandbox frees a slot that often
	if f.BusyCount > fewBusy {
		return mean * time.Duration(u) / time.Duration(f.BusyCount), true
	}
	var left [fewBusy]time.Duration
	n := 0
	for id := f.FirstBusy; id != policies.NoSandbox && n < fewBusy; n++ {
		b := v.Sandbox(id)
		left[n] = e.remaining(x, v.Now().Sub(b.BusySince))
		id = b.NextBusy
	}
	free := left[:n]
	slices.Sort(free)
	round, place := (u-1)/n, (u-1)%n
	return free[place] + time.Duration(round)*mean, true
}

func (e *ExpectedWait) remaining(x *stats.Recent, elapsed time.Duration) time.Duration {
	if e.cfg.Predict == Median {
		m, _ := x.Median()
		return max(0, m-elapsed)
	}
	d, _ := x.Remaining(elapsed)
	return d
}

// again is the moment when the head will have waited T_p.
func (e *ExpectedWait) again(f *policies.Func, tp time.Duration) policies.Time {
	if !e.cfg.Timer || f.HeadSince == policies.Never {
		return policies.Never
	}
	return f.HeadSince.Add(tp)
}

// Recheck bounds the wait, and gives up what is not needed any more.
func (e *ExpectedWait) Recheck(v policies.View, fn policies.FuncID) policies.Verdict {
	f := v.Func(fn)
	var verdict policies.Verdict
	surplus := f.Provisioning + f.Queued - f.Waiting
	if surplus > 0 && e.cfg.Cancel && !e.spare(v, f, f.Live+f.Queued) {
		verdict.Cancel = surplus
		e.counts[2] += int64(surplus)
	}
	if f.HeadSince == policies.Never {
		return verdict
	}
	tp := coldStart(&e.of(fn).cold, f, e.cfg.ColdPerMB)
	verdict.Again = e.again(f, tp)
	if e.cfg.Timer && v.Now() >= verdict.Again {
		verdict.Again = policies.Never
		verdict.Start = max(0, -surplus)
		e.counts[3] += int64(verdict.Start)
	}
	return verdict
}

// Observe collects executions and cold starts.
func (e *ExpectedWait) Observe(v policies.View, x policies.Fact) {
	switch x.Kind {
	case policies.FactFinished:
		e.of(x.Fn).exec.Add(x.Dur)
	case policies.FactReady:
		b := v.Sandbox(x.Sandbox)
		e.of(x.Fn).cold.Add(b.ReadyAt.Sub(b.StartedAt))
	case policies.FactArrived, policies.FactStarted, policies.FactUsed, policies.FactIdle,
		policies.FactEvicted, policies.FactGone, policies.FactDropped:
	}
}

// Report counts the decisions.
func (e *ExpectedWait) Report(put func(string, int64)) {
	put("wait_decided_start", e.counts[0])
	put("wait_decided_wait", e.counts[1])
	put("wait_starts_cancelled", e.counts[2])
	put("wait_starts_by_timer", e.counts[3])
}
