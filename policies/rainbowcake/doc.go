// Package rainbowcake keeps sandboxes in layers that functions share (Yu et
// al., "RainbowCake", ASPLOS'24): the user layer (a full sandbox), the language
// layer under it, and the bare one under that.
//
// A start looks for an idle user layer (then it is no start at all), a
// language layer of the same language, a bare one, and pays only the stages
// that are missing. An idle layer is demoted by one when its time ends, and
// destroyed after bare:
//
//	TTL  = min(quantile, beta), within 60 s to 600 s; 600 s without history
//	quantile = -ln(1 - q) * mean IAT,   q = 0.8: the q-quantile of Exp
//	beta = alpha * t / ((1 - alpha) * m), alpha = 0.996
//
// The mean IAT is that of the last 6 arrivals that could use the layer: of the
// function, of its language, of anybody. t is the time in seconds that the
// layer saves a start, m the MB that it holds. If nobody of a function is idle
// at the quantile after its last arrival, one is prewarmed.
//
// The shares of the stages in time and memory are configuration: bare 20,
// language 40, user 40 %. A function without a layer of its own (Spec.Layer 0)
// is demoted to bare at once. Confidence A: formulas in print; what memory
// pressure evicts is not, here the least recently used of any layer.
//
// Invariants: a sandbox that the mechanism could not demote is destroyed when
// its time ends; prewarming never evicts.
package rainbowcake
