// Package nearest says how far two words are apart, so that an error about an
// unknown name can offer the one that was probably meant.
//
// Invariant: a pure function of its arguments.
package nearest
