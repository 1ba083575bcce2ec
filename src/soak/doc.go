// Package soak wears a worker out: loads of every kind at once, while code is
// replaced, sandboxes are evicted and killed, and the worker itself is killed.
//
// Invariants:
//   - Every request is judged: its answer is the right one, or it is an error
//     that is documented for what was done to it (its own doing, or a sandbox
//     or worker killed while it ran). Anything else is a fault.
//   - A request that was answered well has run once; any other at most once.
//     Lambdas print what they run, and their logs are counted.
//   - A life of the worker that is not cut short ends with its counters held
//     against the clients', and with what it holds held against what it held
//     when it began, both without any sandbox.
//   - On a host that is made to fail (Config.Faulty) a request may be refused
//     with 503, and a log may lack lines as long as it says so. Nothing else is
//     forgiven.
//   - Run leaves no goroutine behind, and calls the Node from its own goroutine
//     only.
package soak
