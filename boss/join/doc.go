// Package join is the boss' side of the links to workers: it takes workers into
// the fleet and passes notices to them.
//
// Invariants:
//   - A worker is in the fleet exactly as long as its link lives; a link ends
//     at once with its connection, and after api.LostAfter of silence.
//   - A notice never waits for a worker that does not read: its link is cut.
//   - Whoever may join is checked before anything is kept of him.
package join
