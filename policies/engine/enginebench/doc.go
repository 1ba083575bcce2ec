// Package enginebench prepares engines whose Steps are worth timing: a fleet
// of idle sandboxes that is used, and evicted from. The Go benchmarks and
// `ol bench` time the same calls.
//
// Invariants: it reads no clock, the caller times; the same calls lead to the
// same decisions; every Evict is followed by a Restore before the next one, so
// that the fleet keeps its size; what went otherwise than meant is kept and
// reported by Err.
package enginebench
