// Package api is what the worker, the boss and the command line agree on:
// header names, routes, error bodies and the JSON shapes of answers.
//
// Invariants:
//   - Only names and shapes live here: no I/O beyond writing an answer.
//   - A platform error is problem+json (RFC 9457), or plain text if the
//     client prefers it; it is never mixed into a lambda's own answer.
package api
