package lru

import (
	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/heap"
)

// LRU is the evictor. The zero value is ready.
type LRU struct{ idle heap.Heap }

// Insert adds an idle sandbox.
func (l *LRU) Insert(v policies.View, id policies.SandboxID) {
	b := v.Sandbox(id)
	l.idle.Set(int32(id), heap.Key{B: int64(b.LastUse), C: b.Born})
}

// Remove takes one out.
func (l *LRU) Remove(_ policies.View, id policies.SandboxID) { l.idle.Remove(int32(id)) }

// Next names the least recently used one.
func (l *LRU) Next(policies.View, policies.Start) (policies.SandboxID, bool) {
	id, _, ok := l.idle.Min()
	return policies.SandboxID(id), ok
}

// Expire never has anything: LRU evicts under pressure only.
func (l *LRU) Expire(policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	return policies.NoSandbox, policies.FormGone, policies.Never
}
