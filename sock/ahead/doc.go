// Package ahead makes things before somebody needs them, at times when nobody
// needs any: making them takes what those who wait want themselves.
//
// Invariants:
//   - Nothing is made within the idle time after one was taken.
//   - Only the goroutine of Run makes anything.
//   - A failure is told once, and tried again when the next one is taken.
package ahead
