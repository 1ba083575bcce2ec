package config

import "encoding/json"

// Config is the worker's configuration. The JSON names are the keys of
// config.json; the key of a nested field is written with dots, limits.mem_mb.
type Config struct {
	// WorkerDir holds what the worker makes: logs, extracted code, sockets,
	// sandboxes. Absolute path.
	WorkerDir string `json:"worker_dir"`
	// WorkerURL is the address to listen on, a host name or an IP address;
	// "0.0.0.0" listens on all.
	WorkerURL string `json:"worker_url"`
	// WorkerPort is the TCP port to listen on; "0" lets the kernel choose.
	WorkerPort string `json:"worker_port"`
	// LogOutput says whether what lambdas print is kept in their log files.
	LogOutput bool `json:"log_output"`
	// Sandbox is the mechanism: "sock" or "runc".
	Sandbox string `json:"sandbox"`
	// ServerMode is "lambda" (serve lambdas) or "sock" (serve bare sandboxes).
	ServerMode string `json:"server_mode"`

	// Registry is where lambdas are stored: file://, s3:// or gs:// URL; a
	// bare path means file.
	Registry string `json:"registry"`
	// RegistryCacheMS is how long a lambda found in the registry is used
	// before the registry is asked for a newer one, milliseconds.
	RegistryCacheMS int `json:"registry_cache_ms"`

	// PkgsDir is where packages are installed, one directory each.
	PkgsDir string `json:"Pkgs_dir"`
	// PkgsMaxMB bounds the disk space of all packages, MB; packages that no
	// lambda uses go first. 0 is no limit.
	PkgsMaxMB int `json:"pkgs_max_mb"`
	// PipMirror is the package index that pip installs from; "" is pip's own.
	PipMirror string `json:"pip_mirror"`

	// SandboxConfig is passed to the sandbox mechanism as it is.
	SandboxConfig map[string]any `json:"sandbox_config"`
	// MemPoolMB is the memory that all lambda sandboxes together may be
	// charged for, MB (2^20 bytes).
	MemPoolMB int `json:"mem_pool_mb"`
	// ImportCacheTree says which zygotes to make: the path of a JSON file, the
	// JSON itself, or "" for the root zygote alone.
	ImportCacheTree string `json:"import_cache_tree"`
	// ImportCacheMB is the memory that all zygotes of the tree may have together,
	// MB; those used longest ago make room.
	ImportCacheMB int `json:"import_cache_mb"`
	// SOCKBasePath is the directory with the base image of the sandboxes, or
	// "host" to use the machine's own /usr read-only.
	SOCKBasePath string `json:"sock_base_path"`

	// Limits apply to a sandbox unless the lambda's ol.yaml says otherwise.
	Limits Limits `json:"limits"`
	// LimitsMax is what an ol.yaml may ask for at most.
	LimitsMax Bounds `json:"limits_max"`
	// InstallerLimits apply to the sandbox that installs packages; a zero
	// inherits from Limits.
	InstallerLimits Limits `json:"installer_limits"`

	Features Features `json:"features"`
	Trace    Trace    `json:"trace"`
	Storage  Storage  `json:"storage"`
	// Kafka is about the Kafka triggers, see KafkaRetry. Keys that it does not
	// know are accepted, for OpenLambda has others.
	Kafka map[string]any `json:"kafka"`

	// Policy is the scheduling policy: an object, or the name of a preset.
	Policy Policy `json:"policy"`
	// QueueLimit is how many requests of one lambda may wait; the next gets
	// 429. 0 is no limit.
	QueueLimit int `json:"queue_limit"`
	// QueueTimeoutMS is how long a request waits for a sandbox before it is
	// answered 503, milliseconds. 0 is no limit.
	QueueTimeoutMS int `json:"queue_timeout_ms"`
	// Network is what a lambda has unless its ol.yaml asks for less: "none";
	// "nat", a network of its own that leads out and to nothing of the machine;
	// "host", the machine's own; "auto", nat where the machine can and else none.
	Network string `json:"network"`
	// NAT shapes the network "nat".
	NAT NAT `json:"nat"`
	// FreezeGraceMS is how long a sandbox is idle before it is frozen,
	// milliseconds; -1 never freezes.
	FreezeGraceMS int `json:"freeze_grace_ms"`
	// MaxBodyMB is the largest body of a request or an answer, MB.
	MaxBodyMB int `json:"max_body_mb"`
	// StartSlots is how many sandboxes are started at the same time; 0 is two
	// for each core.
	StartSlots int `json:"start_slots"`
	// DrainSec is how long running requests may take to end when the worker
	// stops, seconds.
	DrainSec int `json:"drain_sec"`
	// PoolSize is how many pre-forked children are kept ready; 0 keeps none.
	PoolSize int `json:"pool_size"`
	// Cluster is what the worker needs to know of the bosses it joins.
	Cluster Cluster `json:"cluster"`
	// LogMaxMB bounds the log files of one lambda on disk, MB.
	LogMaxMB int `json:"log_max_mb"`
}

// Cluster is a worker's membership in a cluster.
type Cluster struct {
	// Bosses are their URLs, separated by commas; "" is no cluster. Lambdas are
	// then the cluster's, whatever registry says.
	Bosses string `json:"bosses"`
	// Name of the worker, unique in the cluster; "" is host name and port.
	Name string `json:"name"`
	// Advertise is the URL under which bosses reach the worker; "" follows from
	// worker_url and worker_port.
	Advertise string `json:"advertise"`
	// TokenFile holds the cluster's token; "" shows none.
	TokenFile string `json:"token_file"`
	// CAFile holds the certificates (PEM) that a boss' own must be signed by;
	// "" trusts what the machine trusts.
	CAFile string `json:"ca_file"`
	// CertFile and KeyFile (PEM) are shown to bosses that ask for a
	// certificate; "" shows none.
	CertFile string `json:"cert_file"`
	KeyFile  string `json:"key_file"`
	// TLSCert and TLSKey are files (PEM) to serve HTTPS with; "" serves HTTP.
	// They are also shown to bosses unless CertFile is set.
	TLSCert string `json:"tls_cert"`
	TLSKey  string `json:"tls_key"`
	// TLSClientCA holds the certificates (PEM) that a caller's must be signed
	// by; "" asks callers for none.
	TLSClientCA string `json:"tls_client_ca"`
	// Insecure allows a member of a cluster to listen on other addresses than
	// loopback without a token or TLS.
	Insecure bool `json:"insecure"`
}

// Limits bound one sandbox.
type Limits struct {
	Procs      int `json:"procs"`       // processes and threads
	MemMB      int `json:"mem_mb"`      // memory, MB
	CPUPercent int `json:"cpu_percent"` // CPU time, percent of one core
	Swappiness int `json:"swappiness"`  // 0 (never swap) to 100
	RuntimeSec int `json:"runtime_sec"` // longest execution of a request, seconds
}

// Bounds are the most that a lambda may ask for; 0 is no bound. What Limits give
// to everybody may always be asked for.
type Bounds struct {
	Procs      int `json:"procs"`       // processes and threads
	MemMB      int `json:"mem_mb"`      // memory, MB
	CPUPercent int `json:"cpu_percent"` // CPU time, percent of one core
	RuntimeSec int `json:"runtime_sec"` // longest execution of a request, seconds
}

// defaultBounds suit a machine of strangers: several lambdas fit the pool side
// by side, each may use two cores if nobody else wants them, and a request ends
// within a quarter of an hour.
func defaultBounds(poolMB int) Bounds {
	return Bounds{Procs: 256, MemMB: max(poolMB/4, 512), CPUPercent: 200, RuntimeSec: 900}
}

// Inherit returns l with every zero replaced by the value of base.
func (l Limits) Inherit(base Limits) Limits {
	fill := func(v *int, b int) {
		if *v == 0 {
			*v = b
		}
	}
	fill(&l.Procs, base.Procs)
	fill(&l.MemMB, base.MemMB)
	fill(&l.CPUPercent, base.CPUPercent)
	fill(&l.Swappiness, base.Swappiness)
	fill(&l.RuntimeSec, base.RuntimeSec)
	return l
}

// Features switch parts of the sandbox mechanism.
type Features struct {
	ReuseCgroups      bool   `json:"reuse_cgroups"`       // keep cgroups of destroyed sandboxes for new ones
	ImportCache       string `json:"import_cache"`        // zygotes: "tree", "multitree" (several of each where one is busy), "" (off)
	DownsizePausedMem bool   `json:"downsize_paused_mem"` // reclaim memory of frozen sandboxes
	EnableSeccomp     bool   `json:"enable_seccomp"`      // filter system calls
	UserNamespaces    bool   `json:"user_namespaces"`     // give each sandbox ids of its own in a user namespace, where the kernel can
	// FaultPercent of what the host does for sandboxes and uploads fails as if the
	// host had run out of something, by chance. For tests; 0 in earnest.
	FaultPercent int `json:"fault_percent"`
}

// NAT shapes the network of sandboxes that have one of their own.
type NAT struct {
	// Range is the private IPv4 network, 8 to 20 bits, that the sandboxes of all
	// workers of the machine have their addresses from; "" chooses one that is
	// not in use. All workers of a machine should have the same.
	Range string `json:"range"`
	// Deny lists IPv4 networks that lambdas must not reach, separated by spaces.
	Deny string `json:"deny"`
}

// Trace switches extra log lines about a part.
type Trace struct {
	Cgroups bool `json:"cgroups"`
	Memory  bool `json:"memory"`
	Evictor bool `json:"evictor"`
	Package bool `json:"package"`
	Latency bool `json:"latency"`
}

// Storage says where the parts of a sandbox's file system live: "" (disk),
// "memory" or "private".
type Storage struct {
	Root    string `json:"root"`
	Scratch string `json:"scratch"`
	Code    string `json:"code"`
}

// Policy chooses the scheduling policy.
type Policy struct {
	// Preset names a pair of scaler and evictor; "ol policy list" shows them.
	Preset string `json:"preset"`
	// Scaler and Evictor replace that part of the preset; "" keeps it.
	Scaler  string `json:"scaler"`
	Evictor string `json:"evictor"`
	// WindowSec is the sliding window of the medians, seconds (CIDRE section 3.2: 15 min).
	WindowSec int `json:"window_sec"`
	// TD is the source of T_d: "head-age" (the age of the queue's head counts
	// too) or "completed" (completed waits only).
	TD string `json:"td"`
	// Clock of a new sandbox that needed no eviction: "zero" or "inflated".
	Clock string `json:"clock"`
	// TTLSec is the keep-alive of the ttl evictor, seconds.
	TTLSec int `json:"ttl_sec"`
	// TTLFrom is where the keep-alive begins: "idle" (the last use) or
	// "lifespan" (the start).
	TTLFrom string `json:"ttl_from"`
	// Concurrency is how many requests one sandbox serves at once unless the
	// lambda says otherwise.
	Concurrency int `json:"concurrency"`
	// StarveAfterMS is the age from which the oldest start that waits for
	// memory takes the next sandbox that comes free, milliseconds; 0 or -1 never.
	StarveAfterMS int `json:"starve_after_ms"`
}

func defaultPoolMB(ramMB int) int { return max(ramMB-500, 500) }

// New returns the defaults of a worker that lives in dir (absolute) on a
// machine with ramMB of memory.
func New(dir string, ramMB int) Config {
	return Config{
		WorkerDir:       dir + "/worker",
		WorkerURL:       "localhost",
		WorkerPort:      "5000",
		LogOutput:       true,
		Sandbox:         "sock",
		ServerMode:      "lambda",
		Registry:        "file://" + dir + "/registry",
		RegistryCacheMS: 5000,
		PkgsDir:         dir + "/lambda/packages",
		SandboxConfig:   map[string]any{},
		PkgsMaxMB:       10240,
		ImportCacheMB:   256,
		MemPoolMB:       defaultPoolMB(ramMB),
		SOCKBasePath:    "host",
		Limits:          Limits{Procs: 10, MemMB: 50, CPUPercent: 100, RuntimeSec: 30},
		LimitsMax:       defaultBounds(defaultPoolMB(ramMB)),
		InstallerLimits: Limits{MemMB: 250, RuntimeSec: 300},
		Features:        Features{ReuseCgroups: true, ImportCache: "tree", DownsizePausedMem: true, EnableSeccomp: true, UserNamespaces: true},
		Kafka:           map[string]any{},
		Policy: Policy{
			Preset: "cidre", WindowSec: 900, TD: "head-age", Clock: "zero",
			TTLSec: 600, TTLFrom: "idle", Concurrency: 1, StarveAfterMS: 1000,
		},
		QueueLimit:    10000,
		Network:       "auto",
		FreezeGraceMS: 50,
		MaxBodyMB:     64,
		DrainSec:      30,
		PoolSize:      4,
		LogMaxMB:      16,
	}
}

// JSON returns the configuration as an indented config.json.
func (c Config) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}
