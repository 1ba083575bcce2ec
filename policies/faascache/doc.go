// Package faascache is greedy-dual keep-alive, FaasCache (Fuerst and Sharma,
// ASPLOS'21), as the CIDRE paper states it in section 2.4:
//
//	Priority = Clock + Freq * Cost / Size         (Eq. 1)
//	Priority = Clock + Freq * Cost / (Size * K)   (Eq. 2, FaasCache-C)
//
// Invariants: Clock is the priority of the last victim and never falls. Freq
// is the sum of the uses of the function's live sandboxes; a sandbox that
// goes takes its uses with it. All sandboxes of a function share the priority
// that its last use gave it; with K (its live sandboxes) also a change of K
// renews it. The lowest goes first; ties: older last use, then older sandbox.
// Confidence A: a formula in print.
package faascache
