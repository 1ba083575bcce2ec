// Package stats holds the running statistics that policies decide on.
//
// Invariants: reading costs O(1) apart from samples that must be dropped;
// adding costs O(log n) and allocates only while a window grows; the results
// are exact, not sketches, so that a simulation is reproducible to the bit.
package stats
