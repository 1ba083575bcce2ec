package lfu

import (
	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/ranking"
)

// LFU is the evictor. The zero value is ready.
type LFU struct{ idle ranking.Ranking }

// Insert adds an idle sandbox.
func (l *LFU) Insert(v policies.View, id policies.SandboxID) {
	b := v.Sandbox(id)
	l.idle.Score(b.Fn, float64(v.Func(b.Fn).Arrived))
	l.idle.Insert(b)
}

// Remove takes one out.
func (l *LFU) Remove(v policies.View, id policies.SandboxID) { l.idle.Remove(v.Sandbox(id)) }

// Next names the least recently used sandbox of the least used function.
func (l *LFU) Next(policies.View, policies.Start) (policies.SandboxID, bool) { return l.idle.Min() }

// Expire never has anything: LFU evicts under pressure only.
func (l *LFU) Expire(policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	return policies.NoSandbox, policies.FormGone, policies.Never
}

// Observe counts arrivals.
func (l *LFU) Observe(v policies.View, f policies.Fact) {
	if f.Kind == policies.FactArrived {
		l.idle.Score(f.Fn, float64(v.Func(f.Fn).Arrived))
	}
}
