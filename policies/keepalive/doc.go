// Package keepalive holds idle sandboxes with the moments when their time
// ends. It is what evictors share that give every sandbox a time to live and
// fall back to the least recently used one when memory is short, and, for those
// that demote before they destroy, which wishes the mechanism refused.
//
// Invariants: nothing that is not idle is held; ties in the order of use and
// in the order of expiry go to the older sandbox; Func.KeepUntil postpones an
// expiry and never an eviction; every operation is O(log n).
package keepalive
