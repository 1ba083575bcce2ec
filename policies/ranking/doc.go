// Package ranking keeps idle sandboxes under their functions: functions in
// the order of a score, and within a function the least recently used first.
// It is what evictors share that judge functions rather than sandboxes.
//
// Invariants: the order is total (score, last use, age of the sandbox), so the
// victim does not depend on the order of insertion; every operation is
// O(log n) and allocates nothing once it has seen the largest ids.
package ranking
