// Package enginetest drives an engine in virtual time with sandboxes that
// take exactly the time that a test says. It is for tests of the engine and
// of policies; the simulator is the real thing.
//
// Invariants: events at the same moment are fed in the order in which they
// were planned; every Step is followed by Check; nothing is random.
package enginetest
