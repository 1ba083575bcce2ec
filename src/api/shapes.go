package api

// Stats is the answer of /stats: counters "<name>.cnt" and mean times
// "<name>.ms-avg" in milliseconds, and gauges without a suffix.
type Stats map[string]float64

// Names of Stats; append .cnt or .ms-avg.
const (
	StatRun      = "web-request"     // invocations answered, time from arrival to the last byte
	StatQueue    = "queue"           // waits for a sandbox
	StatExec     = "run-lambda"      // round trips on a sandbox
	StatCreate   = "create-sandbox"  // starts of sandboxes
	StatDestroy  = "destroy-sandbox" // removals of sandboxes
	StatPull     = "pull-lambda"     // code pulled from the registry
	StatPackage  = "pull-package"    // packages installed
	StatWarm     = "start-warm"      // invocations by kind of start, time waited
	StatDelayed  = "start-delayed"
	StatCold     = "start-cold"
	StatEvict    = "evict"  // sandboxes destroyed to make room
	StatError    = "error"  // invocations answered by a platform error
	StatUsedMB   = "mem-mb" // memory charged now
	StatPeakMB   = "mem-peak-mb"
	StatPoolMB   = "mem-pool-mb"
	StatSandbox  = "sandboxes"
	StatInFlight = "in-flight"
)

// Debug is the answer of /debug to a client that accepts application/json.
type Debug struct {
	Worker    string         `json:"worker"`
	PoolMB    int64          `json:"pool_mb"`
	UsedMB    int64          `json:"used_mb"`
	PeakMB    int64          `json:"peak_mb"`
	Sandboxes []SandboxState `json:"sandboxes"` // sorted by id
}

// SandboxState describes one sandbox.
type SandboxState struct {
	ID       string  `json:"id"`
	Function string  `json:"function"`
	State    string  `json:"state"`  // provisioning, idle, busy, dying
	Frozen   bool    `json:"frozen"` // of an idle one
	Origin   string  `json:"origin"` // pool, zygote or fresh
	LimitMB  int64   `json:"limit_mb"`
	MemBytes int64   `json:"mem_bytes"` // used now, 0 if unknown
	InitMS   float64 `json:"init_ms"`
	Uses     int64   `json:"uses"` // requests ever run in it
	AgeMS    float64 `json:"age_ms"`
	Detail   string  `json:"detail"`
}
