// Package registry is the lambdas of a cluster: what there is, in which
// revision, and its code by digest.
//
// Invariants:
//   - Code is stored before the entry that names it, under its SHA-256: an
//     entry never names code that is not there.
//   - Reads come from memory, which follows the store: while the store is out
//     of reach they go on with what was known last.
//   - A write is answered when the store has acknowledged it, and fails at
//     once when the store cannot.
//   - Uploads are untrusted: they are unpacked aside and refused if that fails.
package registry
