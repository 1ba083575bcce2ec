// Package unpack extracts an archive that nobody vouches for and finds out
// whether it is a lambda. Workers and bosses judge uploads by it alike.
//
// Invariants:
//   - After an error nothing of the archive is left.
//   - A fault of the archive is an *archive.RefusedError or a *ContentError;
//     everything else is a fault of the machine.
package unpack
