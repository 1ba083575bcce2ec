// Package async keeps invocations whose caller does not wait: it takes them
// in, has them run, tries again what failed, and keeps the answers for a while.
//
// Invariants:
//   - An invocation is acknowledged when the queue has it durably; from then on
//     it runs at least once, is canceled, or is in the dead-letter list. It may
//     run more than once: when a boss dies with it, or cannot say that it ended.
//   - Every boss serves the same queue, and none leads. Whatever changes the
//     state of an invocation names the revision that it has seen, so that of
//     two bosses one wins and the other looks again.
//   - The request is stored once, in the queue; states are small until there is
//     an answer. A state that nobody wrote yet is that of a queued invocation.
//   - Everything is bounded: the queue, bodies, attempts, and how long answers
//     are kept. What does not fit is said, never cut.
package async
