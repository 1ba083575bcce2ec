// Package emulate has workers without sandboxes, for tests and measurements of
// a cluster: many of them in one process, each with a port of its own, with
// settable delays and faults.
//
// Invariants:
//   - To a boss an emulated worker is a worker: it joins, reports and answers
//     by the same protocol, through the same code.
//   - What it ran it remembers, by request id, so that a test can tell whether
//     anything was lost or ran twice.
package emulate
