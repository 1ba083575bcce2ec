// Package archive packs a lambda's directory into a tar.gz and unpacks
// uploads that nobody vouches for.
//
// Invariants:
//   - Extract writes inside its target only, and regular files and
//     directories only: no link, device, fifo or special bit survives.
//   - An archive is taken whole or not at all: a refusal leaves nothing
//     behind, and the target appears by a rename.
//   - Whatever the archive is, the work is bounded by Limits.
package archive
