// Package memory is a queue and states of asynchronous invocations that live in
// this process, for tests.
//
// Invariants: they behave as package async asks of its stores; several services
// may share them, as bosses share theirs; they can be taken away and given
// back. Time is that of package time, so that it can be virtual.
package memory
