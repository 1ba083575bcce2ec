// Package floor measures what the bare mechanisms cost that sandboxes are made
// of, so that a benchmark can set its figures against them in the same run.
//
// The bare process is a Python that has imported ctypes and http.server, and
// what else it is told to. It does what the kernel demands and nothing else: no
// checks, no privileges dropped, no filter, no code loaded. The answer is that of
// the standard library's HTTP server, given for the first time in this process.
//
// Earlier the answer was a constant that was sent without looking at the
// request. The bars are stated against times to the first HTTP answer (4 ms from
// a parked child, of which namespaces are only 0.8 ms; 10 to 13 ms from a fork),
// in which Python's HTTP code, touched for the first time after the fork, weighs
// more than the kernel. Constant still measures the former.
//
// Everything that a measurement makes is removed before it returns.
package floor
