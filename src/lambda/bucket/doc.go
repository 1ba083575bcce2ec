// Package bucket opens the places where archives of lambdas are kept, by URL.
//
// Invariants:
//   - A directory is made if it does not exist, and holds nothing but what was
//     put there: no metadata beside it, no temporary files elsewhere.
//   - Other schemes than file need their driver in the binary.
package bucket
