// Package server is the worker's HTTP side: invocations, the registry, and
// what people and monitors ask for.
//
// Invariants:
//   - A lambda's answer passes untouched but for hop-by-hop headers and the
//     headers named in package api; it is never followed by text of ours. An
//     answer that breaks off is cut, so that the client can tell.
//   - A platform error is a problem of package api and says why.
//   - A request with a body of up to bufferMax bytes has been read before it
//     waits for a sandbox: slow clients hold none, and a client that leaves
//     is noticed at once.
package server
