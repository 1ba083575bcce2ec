// Package ttl is keep-alive by a fixed time, the stock policy of OpenLambda
// and of most platforms.
//
// Invariants: a sandbox is destroyed when its time has passed and it is idle,
// never while it runs. Counted from its last use (Idle, what OpenLambda does)
// or from its creation (Lifespan, the wording of the CIDRE paper, section 4).
// Under memory pressure the one that would end first goes first, which for
// Idle is LRU. Confidence B: from public descriptions.
package ttl
