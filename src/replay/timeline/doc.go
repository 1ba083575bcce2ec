// Package timeline draws what a worker's sandboxes did, from the events that the
// worker streams: as a Chrome trace, which Perfetto opens, and as text; and keeps those events for
// other drawings.
//
// Invariants: events are taken in the order of their times, whatever order they
// come in; a sandbox that was there before the first event has a track from
// its first event on; what has not ended lasts to the last event; no request
// outlives its sandbox, and none lasts across a gap in what was read.
package timeline
