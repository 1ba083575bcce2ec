// Package engine is the scheduler of one node as a state machine without side
// effects. A driver (the worker's dispatcher, the simulator) feeds it events
// with the time and performs the actions that it returns.
//
// Invariants (Check verifies them):
//   - Step is a function of the engine's state, the time and the event: no
//     clock, no randomness, no map iteration. The caller serialises.
//   - Memory stays charged from the moment a start is granted until the
//     driver confirms that the sandbox is gone; the charge never exceeds the
//     pool unless the pool was shrunk.
//   - Busy sandboxes are never victims. Nothing is evicted unless free and
//     idle memory suffice for the start at the head of the queue.
//   - Starts that lack memory or a start slot wait in one FIFO, strictly in
//     order; only where they starve (Config.StarveMin) do those of the
//     function that holds most memory let the others pass.
//   - Waiting requests of a function are served in the order of arrival,
//     whether they are bound to a start that lacks memory or not; one that
//     comes back has its old place.
//   - There is never a free slot beside a waiting late-bound request of the
//     same function (work-conserving, CIDRE section 3.1).
//   - A request is answered once: Run or Reject, unless it was cancelled.
//   - A waiting late-bound request always has a live sandbox or a wanted
//     start of its function: no policy can strand it.
package engine
