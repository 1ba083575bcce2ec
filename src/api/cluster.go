package api

import (
	"encoding/json"
	"time"
)

// Headers and routes of a cluster.
const (
	// HeaderNotStarted marks a 503 (or 429) of which nothing was run: whoever
	// sent the request may send it elsewhere.
	HeaderNotStarted = "X-Ol-Not-Started"
	// HeaderTimeout is how long the answer may still take, milliseconds. It
	// is a length and no moment, so that clocks may differ.
	HeaderTimeout = "X-Ol-Timeout-Ms"
	// HeaderToken carries the cluster's token from a boss to a worker, beside an
	// Authorization that belongs to the lambda.
	HeaderToken = "X-Ol-Token"
	// HeaderRevision is the revision of a lambda in the boss' registry.
	HeaderRevision = "X-Ol-Revision"
	// HeaderStamp says how new something in the bosses' registry is: of two
	// stamps the one that sorts later is newer. In a boss' answer it is that of
	// the lambda, or of the news that there is none; in a request it means: at
	// least as new. Whoever cannot say that much refuses.
	HeaderStamp = "X-Ol-Stamp"

	PathJoin  = "/cluster/join"  // POST, a Hello; upgraded to UpgradeLink
	PathNodes = "/cluster/nodes" // GET: list of NodeState; POST NAME/drain, NAME/resume

	PathScaling  = "/scaling/worker_count" // POST: a number
	PathShutdown = "/shutdown"             // POST

	// UpgradeLink is the protocol that a join switches to: JSON values, one a
	// line: Reports to the boss, Notices to the worker.
	UpgradeLink = "ol-link"
	// LinkVersion is the version of the link; both sides must speak the same.
	LinkVersion = 1
)

// Times of a link.
const (
	ReportEvery = 50 * time.Millisecond // the least time between two reports of a change
	BeatEvery   = time.Second           // a report is sent that often even if nothing changed
	LostAfter   = 3 * time.Second       // a side that is silent for so long is gone
)

// Hello is how a worker asks to join.
type Hello struct {
	Link     int    `json:"link"`     // LinkVersion
	Name     string `json:"name"`     // of the worker, unique in the cluster
	Instance string `json:"instance"` // differs between two runs of the same worker
	URL      string `json:"url"`      // where bosses reach it, http://host:port
	Version  string `json:"version"`  // of the program, for people
	Setup    *Setup `json:"setup,omitempty"`
	Load     Load   `json:"load"`
}

// Setup is how a worker is set up, for whoever predicts what it will do. Bosses
// pass it on and make nothing of it.
type Setup struct {
	Machine    string          `json:"machine"`     // the same for workers that share one, else different
	Cores      int             `json:"cores"`       // that the worker may use
	StartSlots int             `json:"start_slots"` // sandboxes that may start at once; 0: no limit
	Policy     json.RawMessage `json:"policy"`      // as in the worker's configuration
}

// Load is what a worker has to do, as a whole.
type Load struct {
	InFlight  int                     `json:"in_flight"` // requests that wait or run
	UsedMB    int64                   `json:"used_mb"`
	PoolMB    int64                   `json:"pool_mb"`
	Draining  bool                    `json:"draining"` // takes no new requests from bosses
	Functions map[string]FunctionLoad `json:"functions,omitempty"`
}

// FunctionLoad is a function on one worker.
type FunctionLoad struct {
	Sandboxes int `json:"sandboxes"` // ready ones
	Slots     int `json:"slots"`     // requests that those can serve at once
	InFlight  int `json:"in_flight"` // requests that wait or run
}

// Report is what a worker tells on change, and every BeatEvery.
type Report struct {
	Beat bool `json:"beat,omitempty"` // a heartbeat: answered with an empty Notice
	// Load has only the functions that changed since the last report on this
	// link; a function without anything is gone.
	Load Load `json:"load"`
}

// Notice is what a boss tells a worker.
type Notice struct {
	Drain   *bool    `json:"drain,omitempty"`   // take no new requests, or take them again
	Changed []string `json:"changed,omitempty"` // lambdas with new code, or none any more
	// Kafka are the lambdas whose Kafka consumers the worker is to run, as this
	// boss sees it; nil: as before.
	Kafka *[]string `json:"kafka,omitempty"`
}

// NodeState describes a worker as a boss sees it.
type NodeState struct {
	Name      string    `json:"name"`
	URL       string    `json:"url"`
	Version   string    `json:"version"`
	State     string    `json:"state"`     // up, draining, suspect, lost
	Since     time.Time `json:"since"`     // of the state
	InFlight  int       `json:"in_flight"` // requests that wait or run there
	Sandboxes int       `json:"sandboxes"` // ready ones
	UsedMB    int64     `json:"used_mb"`
	PoolMB    int64     `json:"pool_mb"`
	Sent      int64     `json:"sent"`            // requests that this boss ever sent there
	Setup     *Setup    `json:"setup,omitempty"` // nil: it does not say
}

// BossStatus is a boss' answer to /status.
type BossStatus struct {
	State    map[string]int `json:"state"`    // workers: starting, running, cleaning, destroying
	Tasks    map[string]int `json:"tasks"`    // requests in flight by worker
	Placer   string         `json:"placer"`   // how workers are chosen
	Lambdas  int            `json:"lambdas"`  // installed
	Registry string         `json:"registry"` // RegistryOK, or why it cannot be written
}

// RegistryOK is BossStatus.Registry while the registry can be written.
const RegistryOK = "ok"

// Function is a lambda in the boss' registry.
type Function struct {
	Name     string          `json:"name"`
	Revision uint64          `json:"revision"` // grows with every change of any lambda
	Digest   string          `json:"digest"`   // SHA-256 of the archive, hexadecimal
	Bytes    int64           `json:"bytes"`    // of the archive
	Config   json.RawMessage `json:"config"`   // as /registry/NAME/config shows it
	Updated  time.Time       `json:"updated"`
}
