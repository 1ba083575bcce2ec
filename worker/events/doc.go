// Package events passes on what happens to a worker's sandboxes, as it happens.
//
// Invariants: without a reader an event costs one atomic load; with readers
// nothing ever waits for them: one that is too slow loses events and is told so.
package events
