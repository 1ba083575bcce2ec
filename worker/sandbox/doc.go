// Package sandbox is what the worker asks of a sandbox mechanism.
//
// Invariants:
//   - The interfaces belong to the worker; a mechanism does not import it and
//     is adapted in src/cmd/ol.
//   - Create and Destroy pair up: what Create returned is destroyed exactly
//     once by the worker, what it refused has left nothing.
package sandbox
