// Package lesson reproduces a published teaching model of cold starts and
// keep-alive on the project's own engine, exactly, so that a student can change
// a policy and see the same calls under it.
//
// The model. One function, 1,800 s. A call takes 400 ms; a cold call 900 ms
// more, during which the instance is busy too. Gaps between calls are
// exponential, drawn by xorshift32. A call takes the free instance that was
// created first; without one it starts an instance, at most 40; at 40 it waits
// for the instance that is free first. An instance that was free for longer
// than the lifetime is reclaimed. Instances may be pre-warmed: they exist from
// the beginning, are never reclaimed, and count toward the 40.
//
// On the engine this is a TTL evictor, a start bound to its call (coldstart),
// Spec.Max 40 and a Picker of the first created: a FIFO before a full house is
// the queue for the instance that is free first.
//
// Invariants: times are exact to the nanosecond; every profile draws from a
// generator seeded anew; figures are rounded only where they are printed.
package lesson
