// Package policies holds the vocabulary shared by the scheduling engine, its
// policies and its drivers: identifiers, virtual time, the read-only view that
// a policy decides on, and the small interfaces that a policy implements.
//
// Invariants:
//   - Everything below policies is pure: no I/O, no clock, no lock, no
//     goroutine, no map iteration behind a decision. Time is an argument.
//   - A policy reads a View and never writes through it, and keeps no pointer
//     that it got from a View beyond the call.
//   - Words: a lambda is called a function here, as in the paper. A start is
//     warm, cold or delayed (see Kind); nothing else.
//
// Sources: CIDRE, ASPLOS'25 (https://doi.org/10.1145/3676641.3716253),
// sections 2.4 (metrics), 3.1 to 3.4 (the algorithm).
package policies
