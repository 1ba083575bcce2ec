// Package link joins a worker to the bosses of a cluster.
//
// Invariants:
//   - Every boss has a link of its own; none knows of the others, and the loss
//     of one, or of all, changes nothing for the worker but that it tries
//     again.
//   - A change of load is told at most api.ReportEvery after it was seen, and
//     something is told every api.BeatEvery.
//   - Each link starts from the whole load, so a boss needs no memory.
package link
