// Package route is the data plane of a boss: it passes invocations on to
// workers and their answers back.
//
// Invariants:
//   - A request is sent a second time only if not a byte of it left, or if the
//     worker says that it did not start it.
//   - Whatever a client reads came from one worker, whole; an answer that
//     breaks off breaks the client's connection.
//   - Bodies are streamed; what is kept of one, so that it can be sent again,
//     is bounded.
//   - The deadline is a length of time and travels with the request.
package route
