// Package pause has the one way in which this module waits for time to pass.
//
// Invariant: a pause ends with its context, and leaves no timer behind.
package pause
