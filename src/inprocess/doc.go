// Package inprocess calls an http.Handler of this process as a server would,
// for invocations that no connection brings.
//
// Invariants:
//   - An answer that the handler breaks off is told from a whole one.
//   - What is kept of an answer is bounded, and what was not kept is counted.
package inprocess
