// Package code keeps the code of lambdas on the worker's disk.
//
// Invariants:
//   - One pull of a lambda at a time, in a goroutine of its own: a caller that
//     gives up does not stop it, and Close waits for it.
//   - A version is used without asking the registry for at most the cache
//     time; Seq grows, so an older version is never seen after a newer one.
//   - A version's directory is removed when its last user released it, never
//     before.
//   - Unknown names cost bounded memory: they are remembered in a ring.
package code
