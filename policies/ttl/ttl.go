package ttl

import (
	"errors"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/heap"
)

// From says what the time is counted from.
type From uint8

// Starting points.
const (
	Idle     From = iota // the last use
	Lifespan             // the creation
)

// Default is the keep-alive of the CIDRE paper, section 4: 10 minutes.
const Default = 10 * time.Minute

// TTL is the evictor.
type TTL struct {
	keep time.Duration
	from From
	idle heap.Heap // by the moment that the time is counted from
	due  heap.Heap // by the moment of expiry, a prewarmer's wish included
}

// New returns an evictor that keeps idle sandboxes for the given time, which
// must be longer than 0.
func New(keep time.Duration, from From) (*TTL, error) {
	if keep <= 0 {
		return nil, errors.New("make ttl: the keep-alive must be longer than 0")
	}
	return &TTL{keep: keep, from: from}, nil
}

// Insert adds an idle sandbox.
func (t *TTL) Insert(v policies.View, id policies.SandboxID) {
	b := v.Sandbox(id)
	k := heap.Key{B: int64(b.LastUse), C: b.Born}
	if t.from == Lifespan {
		k.B = int64(b.StartedAt)
	}
	t.idle.Set(int32(id), k)
	k.B = int64(policies.Time(k.B).Add(t.keep))
	t.due.Set(int32(id), k)
}

// Remove takes one out.
func (t *TTL) Remove(_ policies.View, id policies.SandboxID) {
	t.idle.Remove(int32(id))
	t.due.Remove(int32(id))
}

// Next names the one whose time would end first.
func (t *TTL) Next(policies.View, policies.Start) (policies.SandboxID, bool) {
	id, _, ok := t.idle.Min()
	return policies.SandboxID(id), ok
}

// Expire names a sandbox whose time has passed.
func (t *TTL) Expire(v policies.View) (policies.SandboxID, policies.Form, policies.Time) {
	for {
		id, k, ok := t.due.Min()
		switch {
		case !ok:
			return policies.NoSandbox, policies.FormGone, policies.Never
		case policies.Time(k.B) > v.Now():
			return policies.NoSandbox, policies.FormGone, policies.Time(k.B)
		}
		keep := v.Func(v.Sandbox(policies.SandboxID(id)).Fn).KeepUntil
		if keep <= v.Now() {
			return policies.SandboxID(id), policies.FormGone, policies.Never
		}
		k.B = int64(keep)
		t.due.Set(id, k)
	}
}
