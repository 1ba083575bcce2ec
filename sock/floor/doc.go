// Package floor measures what the bare mechanisms cost that sandboxes are made
// of, so that a benchmark can set its figures against them in the same run.
//
// The bare process is a Python that has imported nothing but ctypes and
// socket. It does what the kernel demands and nothing else: no checks, no
// privileges dropped, no filter, no request parsed, no code loaded. No sandbox
// can be faster.
//
// Everything that a measurement makes is removed before it returns.
package floor
