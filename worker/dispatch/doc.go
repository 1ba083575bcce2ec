// Package dispatch drives the scheduling engine: it feeds it what happens and
// performs what it decides.
//
// Invariants:
//   - One leaf mutex guards the engine and the tables. No I/O, callback or log
//     happens under it, and nothing waits for another lock while holding it.
//     (Locked lets a monitor copy numbers of the engine.)
//   - Do answers exactly once: it returns when its request was answered,
//     refused or given up, and by then the engine knows.
//   - A request waits on a channel of its own, which gets exactly one grant.
//   - Each sandbox has one goroutine that makes it, watches it and destroys
//     it. Close waits for all of them, so nothing outlives a Dispatcher.
//   - A request is sent to a second sandbox only if the first cannot have
//     seen it.
package dispatch
