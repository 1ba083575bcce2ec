package custompolicy

import (
	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/heap"
)

// Biggest is an evictor: the idle sandbox that holds most memory goes first,
// the least recently used of equals. One victim makes room for several small
// ones. The zero value is ready.
type Biggest struct{ idle heap.Heap }

// Insert says that a sandbox became idle.
func (b *Biggest) Insert(v policies.View, id policies.SandboxID) {
	s := v.Sandbox(id)
	b.idle.Set(int32(id), heap.Key{A: -float64(s.MB), B: int64(s.LastUse), C: s.Born})
}

// Remove says that an idle sandbox is used, or on its way out.
func (b *Biggest) Remove(_ policies.View, id policies.SandboxID) { b.idle.Remove(int32(id)) }

// Next names the next victim.
func (b *Biggest) Next(policies.View, policies.Start) (policies.SandboxID, bool) {
	id, _, ok := b.idle.Min()
	return policies.SandboxID(id), ok
}

// Expire never has anything: Biggest evicts for memory only.
func (b *Biggest) Expire(policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	return policies.NoSandbox, policies.FormGone, policies.Never
}
