// Package story tells what the engine did with a small scenario in sentences
// that a student can follow.
//
// Invariant: it only watches: the decisions are those of the same engine,
// without which the sentences would not come.
package story
