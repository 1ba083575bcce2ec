// Package floor measures what the bare mechanisms cost that sandboxes are made
// of, so that a benchmark can set its figures against them in the same run.
//
// The bare process is a Python that has imported ctypes and http.server, and
// what else it is told to. It does what the kernel demands and nothing else: no
// checks, no privileges dropped, no filter, no code loaded. The answer is that of
// the standard library's HTTP server, given for the first time in this process.
//
// In such an answer Python's HTTP code, touched for the first time after the
// fork, weighs more than the kernel. Constant leaves it out: its answer is sent
// without looking at the request.
//
// Invariant: everything that a measurement makes is removed before it returns.
package floor
