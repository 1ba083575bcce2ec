// Package fault names the places of a worker that a host which has run out of
// something makes fail, so that tests can make them fail.
//
// Invariants:
//   - Without an Injector nothing fails and nothing is slower.
//   - A failure looks to the worker like the kernel's own: it is the error of
//     the step itself, at the place where the step is made.
package fault
