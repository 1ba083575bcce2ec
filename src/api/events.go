package api

// PathEvents of a worker streams what happens to its sandboxes, an Event as
// JSON a line, until the client leaves. Nothing is recorded while nobody reads.
const PathEvents = "/events"

// Kinds of Event.
const (
	EventStart   = "start"   // a sandbox is being made
	EventReady   = "ready"   // it can serve
	EventFailed  = "failed"  // it could not be made
	EventRun     = "run"     // a request begins in it
	EventDone    = "done"    // a request ends in it
	EventFreeze  = "freeze"  // it is frozen
	EventThaw    = "thaw"    // it is thawed
	EventDestroy = "destroy" // it is being destroyed
	EventGone    = "gone"    // nothing is left of it
	EventLost    = "lost"    // the reader was too slow: events are missing before this
)

// Event is one thing that happened to a sandbox.
type Event struct {
	At       int64  `json:"at"`                 // Unix time, ns
	Kind     string `json:"event"`              // see EventStart and those below it
	Sandbox  string `json:"sandbox,omitempty"`  // id
	Function string `json:"function,omitempty"` //
	MB       int64  `json:"mb,omitempty"`       // that it is charged; of EventStart
	Start    string `json:"start,omitempty"`    // warm, delayed or cold; of EventRun
	Wait     int64  `json:"wait,omitempty"`     // ns that the request waited; of EventRun
	Reason   string `json:"reason,omitempty"`   // of EventDestroy: pressure, expired, ...
}
