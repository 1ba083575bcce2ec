// Package cidreplus replaces both halves of CIDRE by an estimate of what each
// decision is worth: which sandbox is missed least, and which start is sooner
// than waiting.
//
// Evict by marginal value. h_F[k] counts the arrivals that brought F to
// exactly k requests in the system, an arrival of age a counting e^(-a/tau),
// tau = 300 s. With n_F sandboxes such an arrival at k = n_F is the one that
// the n_F-th sandbox was there for. The victim is the least recently used idle
// sandbox of the function with the lowest
//
//	h_F[n_F] * Cost(F) / Size(F)
//
// Cost is the mean of F's last 256 cold starts. Forward decay (an arrival adds
// e^(t/tau)) makes the order independent of the moment, so a heap of the
// logarithms is exact and an eviction O(log n).
//
// Start by expected wait. u = waiting requests - sandboxes on their way. Nobody
// busy: start. u <= 0: wait. Else the remaining time of each busy sandbox is
// E[X | X > elapsed] - elapsed over F's last 256 executions, the u requests are
// laid on the sandboxes in the order in which they come free, and one is
// started if the u-th would wait longer than theta * T_p. theta = 1 compares
// like with like; less trades cold starts for waiting. With more than 32 busy sandboxes
// the wait is u * E[X] / busy: that many come free at a steady rate. So a
// decision costs O(1) sandboxes and O(log n) samples each.
//
// Start as well if the sandbox is worth its memory: if the marginal value of
// F's next sandbox, times spare, exceeds the value of the sandbox that would be evicted for it,
// or if memory is free and somebody needed it before. The start then races the busy sandboxes, and what it
// leaves behind is one more sandbox where arrivals have just asked for one. Waiting
// alone would be right for this request and wrong for the ones to come: it is
// what made LRU, which always starts, better where memory is plentiful.
//
// Cancel the newest start while more are on their way than requests wait,
// unless it is worth its memory. Bound the wait by a timer: when the head has
// waited T_p, everybody who waits gets a start, so a wait ends after about 2 T_p,
// memory permitting.
//
// Each of the five can be switched off. Confidence A for what it does; it is
// this project's own, from no paper.
//
// Invariants: requests are bound late, so a start never delays anybody; unknown execution times
// race as CIDRE's BSS does.
package cidreplus
