// Package offline is the clairvoyant baseline of the CIDRE paper (section 4):
// it knows every arrival and every execution time of a recorded workload. It
// runs in the simulator only.
//
// Eviction is Belady's MIN: the idle sandbox that will be reused furthest in
// the future goes first. With k idle sandboxes of a function, the j-th most recently
// used one is taken to serve its j-th next arrival.
//
// Scaling compares exact numbers: the earliest moment at which a busy sandbox
// of the function will be through with everything that is bound to it, and
// a cold start. The request is bound to that sandbox unless the cold start is
// shorter. The variant offline-bss has the same eviction with BSS's scaling.
//
// It is greedy and no bound: it starts nothing for arrivals still to come, it
// does not know how long a start will wait for memory, and on some workloads an
// online policy beats it. Report the best clairvoyant variant beside the online
// ones. Confidence A: rules in print.
//
// Invariants: without an Oracle there is no policy; a request without a known
// execution time cannot occur.
package offline
