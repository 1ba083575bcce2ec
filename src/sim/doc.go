// Package sim drives engines in virtual time: a workload goes in, what became
// of its requests comes out. The decisions are those of policies/engine, the
// same code that the worker runs.
//
// A run has one node, or several behind a policies.Placer. A start succeeds
// after exactly the function's cold start time, a request takes exactly its
// execution time, and a destroyed sandbox is gone after Config.Destroy, unless
// faults are injected. Events at the same moment happen in this order: what
// the mechanism reports, in order of its cause; then arrivals; then timers.
//
// Invariants:
//   - No clock, no network, no process: equal configurations give equal
//     actions (Result.ActionHash), whatever the machine and GOMAXPROCS.
//   - Arrived = served + rejected + waiting, checked at the end of every run.
//   - Memory does not grow with the number of requests, unless a policy wants
//     to know the future.
//
// With Config.Warmup the workload is replayed once, caches and histories are
// kept, every counter is reset, and it is replayed again (the CIDRE paper
// warms its caches; section 4).
package sim
