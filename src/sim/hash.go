package sim

import (
	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
)

// hash digests the action log: the same decisions at the same moments in the
// same order give the same value. FNV-1a over 64-bit words instead of bytes.
type hash uint64

const (
	hashBasis = 14695981039346656037
	hashPrime = 1099511628211
)

func (h *hash) word(v uint64) {
	x := (uint64(*h) ^ v) * hashPrime
	*h = hash(x ^ x>>29) // FNV alone never carries high bits down
}

func (h *hash) action(now policies.Time, node int32, a *engine.Action) {
	h.word(uint64(now))
	h.word(uint64(a.Kind)<<56 | uint64(a.Start)<<48 | uint64(a.Reason)<<40 | uint64(a.Form)<<32 | uint64(uint32(node)))
	h.word(uint64(uint32(a.Sandbox))<<32 | uint64(uint32(a.Req)))
}
