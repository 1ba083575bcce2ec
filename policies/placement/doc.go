// Package placement chooses the node for a request: the policies.Placer
// implementations that the boss and the simulator share.
//
// Invariants: pure, like every policy: no clock, no lock, and chance comes from
// a seed; a node that is down is never chosen; -1 is the answer if none is up;
// equal views and histories give equal choices.
package placement
