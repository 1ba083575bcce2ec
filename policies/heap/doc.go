// Package heap is an indexed binary heap over dense ids, the one ordered
// structure that the scheduler needs.
//
// Invariants: an id is in the heap at most once; the order is total because
// keys are compared field by field and ties end at the id; no operation
// allocates once the heap has seen its largest id and its largest size.
package heap
