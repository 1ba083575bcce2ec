package api

// Headers of every answer of /run/.
const (
	HeaderRequestID = "X-Ol-Request-Id" // UUID version 7, taken over from the request if it has one
	HeaderStart     = "X-Ol-Start"      // warm, delayed or cold
	HeaderWorker    = "X-Ol-Worker"     // name of the worker
	HeaderTiming    = "Server-Timing"   // queue, init and exec with dur in milliseconds
	HeaderWarning   = "X-Ol-Warning"    // of an upload: a key of ol.yaml without effect; may repeat
	HeaderPing      = "X-Ol-Ping"       // marks a ping of the worker to a runtime
)

// Headers and routes that lambdas and clients see.
const (
	PathRun      = "/run/"
	PathRegistry = "/registry/"
	PathStatus   = "/status"
	PathStats    = "/stats"
	PathDebug    = "/debug"
	PathMetrics  = "/metrics"
	PathPprof    = "/pprof/"
	PathPID      = "/pid"      // on the unix socket only
	PathPing     = "/.ol/ping" // inside a sandbox: 204 if the runtime is free
)

// StatusReady is the body of /status of a worker that serves.
const StatusReady = "ready\n"

// SocketFile is the worker's unix socket below its worker_dir; mode 0600.
const SocketFile = "ol.sock"

// LogDir holds the lambdas' logs below worker_dir: <name>.log, and beside it,
// with LogOlder appended, the file that it replaced when that was full.
const (
	LogDir   = "logs"
	LogOlder = ".1"
)

// Uploaded returns the body that answers a successful upload.
func Uploaded(name string) string { return "Lambda " + name + " uploaded successfully" }
