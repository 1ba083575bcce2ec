// Package fleet knows the workers: who is there, how much they have to do, and
// which of them the next request goes to.
//
// Invariants:
//   - Nothing is persisted: everything comes from the workers' reports and
//     from what this boss itself has in flight.
//   - A node that is not up is never chosen. A node has one session; what an
//     older one says is ignored.
//   - Every Lease is ended exactly once, and what it counted is taken back.
//   - mu is held for a few memory accesses only, never across I/O: choosing a
//     node takes O(log n) of the number of nodes.
package fleet
