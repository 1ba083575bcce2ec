// Package fake is a sandbox provider for tests: sandboxes are HTTP handlers in
// the same process.
//
// Invariants:
//   - A fake sandbox keeps the contract of package sandbox: after Destroy it
//     runs nothing, a dead one answers ErrNotSent, a request that it has seen
//     is never reported as not sent.
//   - It counts what it made and destroyed, so that a test can tell a leak.
package fake
