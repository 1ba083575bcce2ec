// Package validate holds a replay on real sandboxes against what the simulator
// says of the same requests, and says where they part.
//
// Invariants: both sides see the same requests in the same order; a tolerance is
// fixed before anything is measured and printed with the verdict; a difference
// within it says nothing about which side is right.
package validate
