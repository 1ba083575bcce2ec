// Package invoke lets lambdas call other lambdas.
//
// A lambda whose ol.yaml lists calls finds a unix socket in its sandbox. The
// worker answers on it, one server for each sandbox, so that it knows who calls
// without being told. A call is made on behalf of a request that runs in the
// sandbox: it has that request's id and ends when that request ends.
//
// Invariants:
//   - Only the lambdas listed are called, by no other path than /run/NAME.
//   - What is called belongs to exactly one running request; a sandbox in which
//     none runs can call nothing.
//   - The depth of calls below a request from outside is counted by the worker
//     alone and is at most MaxDepth: calls in a circle end.
package invoke
