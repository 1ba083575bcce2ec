// Package wire sends requests to one server, the runtime inside a sandbox or a
// worker: HTTP/1.1 over connections that stay open, with as little between the
// socket and the caller as correctness allows. net/http's Transport costs two
// goroutine switches and a retry logic more for each request.
//
// Invariants:
//   - A request is written once, to one connection. It is never sent again
//     by this package: whether the server has seen it cannot be known.
//   - An error wraps ErrNotSent exactly when no byte of the request was
//     accepted by the kernel.
//   - The end of the request's context breaks the connection, which is how a
//     runtime learns that nobody waits any more.
//   - A small request is written and read by the caller's own goroutine; a
//     large body has one more, which has ended when the answer's body is closed.
package wire
