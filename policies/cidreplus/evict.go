package cidreplus

import (
	"errors"
	"math"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/ranking"
	"github.com/open-lambda/open-lambda/policies/stats"
)

// EvictConfig is what can be set about the evictor.
type EvictConfig struct {
	Tau       time.Duration // time after which an arrival counts 1/e
	ColdPerMB time.Duration // cost of a cold start without samples and without an estimate, per MB
}

// DefaultEvict returns tau = 300 s (between 30 and 900 s it matters little),
// and 1.7 ms per MB, as the preset cidre has.
func DefaultEvict() EvictConfig {
	return EvictConfig{Tau: 5 * time.Minute, ColdPerMB: stats.DefaultColdPerMB}
}

// Marginal is the evictor.
type Marginal struct {
	cfg   EvictConfig
	funcs []demand // by FuncID
	idle  ranking.Ranking
}

// demand is what is known of a function.
type demand struct {
	level []stats.Decay // h_F[k] at k-1
	cold  stats.Recent
}

// maxLevel bounds the memory of a function whose queue grows without bound:
// arrivals at a higher concurrency are not counted.
const maxLevel = 1 << 12

// NewMarginal returns an evictor that has seen nothing. It fails on times that
// are not longer than 0.
func NewMarginal(cfg EvictConfig) (*Marginal, error) {
	if cfg.Tau <= 0 || cfg.ColdPerMB <= 0 {
		return nil, errors.New("make marginal: tau and the cold start per MB must be longer than 0")
	}
	return &Marginal{cfg: cfg}, nil
}

func (m *Marginal) of(id policies.FuncID) *demand {
	for int(id) >= len(m.funcs) {
		m.funcs = append(m.funcs, demand{})
	}
	return &m.funcs[id]
}

// score is the logarithm of the value of the function's last sandbox: with
// several slots, of the levels that only it can serve.
func (m *Marginal) score(f *policies.Func) float64 { return m.demand(f, f.Live) + m.price(f) }

// demand is the logarithm of the arrivals that needed the n-th sandbox. A
// function of which nothing is left but a shrunk sandbox has none that counts:
// that one would serve as the first.
func (m *Marginal) demand(f *policies.Func, n int) float64 {
	d := m.of(f.ID)
	n = max(1, n)
	slots := max(1, f.Spec.Slots)
	h := math.Inf(-1)
	for k := (n - 1) * slots; k < min(n*slots, len(d.level)); k++ {
		h = stats.LogAdd(h, d.level[k].Log())
	}
	return h
}

// price is the logarithm of what one of them costs without it, per MB.
func (m *Marginal) price(f *policies.Func) float64 {
	return math.Log(float64(coldStart(&m.of(f.ID).cold, f, m.cfg.ColdPerMB))) - math.Log(float64(max(1, f.Spec.MB)))
}

// worth reports whether factor times the value of the function's n-th sandbox
// exceeds what it displaces: nothing if its memory is free, else the next
// victim. The arrival of this very moment is left out: a sandbox that nobody
// needed before it is not worth anything yet.
func (m *Marginal) worth(v policies.View, f *policies.Func, n int, factor float64) bool {
	h := m.demand(f, n)
	if f.LastArrival == v.Now() && (f.InFlight-1)/max(1, f.Spec.Slots) == n-1 {
		h = stats.LogSub(h, float64(v.Now())/float64(m.cfg.Tau))
	}
	if math.IsInf(h, -1) {
		return false
	}
	if f.Spec.MB <= v.Node().FreeMB && v.Node().QueuedStarts == 0 {
		return true
	}
	id, ok := m.idle.Min()
	return ok && h+m.price(f)+math.Log(factor) > m.idle.ScoreOf(v.Sandbox(id).Fn)
}

// coldStart is the mean of the samples, before that what the driver
// estimates, before that a model of memory; at least 1 ns.
func coldStart(seen *stats.Recent, f *policies.Func, perMB time.Duration) time.Duration {
	if d, ok := seen.Mean(); ok {
		return max(1, d)
	}
	if f.ColdNow > 0 {
		return f.ColdNow
	}
	return max(1, time.Duration(f.Spec.MB)*perMB)
}

func (m *Marginal) rescore(f *policies.Func) {
	if m.idle.Len(f.ID) > 0 {
		m.idle.Score(f.ID, m.score(f))
	}
}

// Insert adds an idle sandbox.
func (m *Marginal) Insert(v policies.View, id policies.SandboxID) {
	b := v.Sandbox(id)
	m.idle.Insert(b)
	m.rescore(v.Func(b.Fn))
}

// Remove takes one out.
func (m *Marginal) Remove(v policies.View, id policies.SandboxID) { m.idle.Remove(v.Sandbox(id)) }

// Next names the least recently used sandbox of the function that would miss
// it least.
func (m *Marginal) Next(policies.View, policies.Start) (policies.SandboxID, bool) {
	return m.idle.Min()
}

// Expire never has anything: the evictor acts under pressure only.
func (m *Marginal) Expire(policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	return policies.NoSandbox, policies.FormGone, policies.Never
}

// Observe counts arrivals by level, and follows costs and n_F.
func (m *Marginal) Observe(v policies.View, x policies.Fact) {
	f := v.Func(x.Fn)
	switch x.Kind {
	case policies.FactArrived:
		m.of(x.Fn).arrived(v.Now(), f.InFlight, m.cfg.Tau)
	case policies.FactReady:
		b := v.Sandbox(x.Sandbox)
		m.of(x.Fn).cold.Add(b.ReadyAt.Sub(b.StartedAt))
	case policies.FactStarted, policies.FactGone: // n_F changed
	case policies.FactUsed, policies.FactFinished, policies.FactIdle,
		policies.FactEvicted, policies.FactDropped:
		return
	}
	m.rescore(f)
}

func (d *demand) arrived(now policies.Time, level int, tau time.Duration) {
	if level > maxLevel {
		return
	}
	for level > len(d.level) {
		d.level = append(d.level, stats.Decay{})
	}
	d.level[level-1].Add(now, tau)
}
