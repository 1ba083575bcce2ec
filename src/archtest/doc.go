// Package archtest holds the rules of the module's architecture as tests: who
// may import whom, what a pure package may not do, and that every package says
// what it is for. It has no code of its own.
//
// Invariant: a rule that stands in ARCHITECTURE.md and can be checked by
// reading source is checked here.
package archtest
