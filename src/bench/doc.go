// Package bench holds what performance is checked with: bars, load, floors and
// the description of the machine. What is loaded (a worker, sandboxes) is
// handed in by the caller as URLs and round trippers.
//
// Invariants: a bar compares two figures of the same run, or an absolute time
// that is relaxed by how slow the machine's own floor is in that run; a bar is
// never judged on a figure that is missing, that is a miss; every load has
// answered or failed each of its requests when it returns, and has no
// goroutine left.
package bench
