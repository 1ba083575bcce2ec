// Package lru evicts the idle sandbox whose last use is longest ago.
//
// Invariant: the order is by last use, then by age of the sandbox; a sandbox
// never used counts as used when it became ready. Confidence A: the textbook
// policy, as in the CIDRE paper, section 4.
package lru
