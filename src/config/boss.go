package config

import (
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Boss is a boss' configuration.
type Boss struct {
	// BossDir holds what the boss keeps: the store, uploads. Absolute path.
	BossDir string `json:"boss_dir"`
	// BossURL is the address to listen on; "0.0.0.0" listens on all.
	BossURL string `json:"boss_url"`
	// BossPort is the TCP port to listen on; "0" lets the kernel choose.
	BossPort string `json:"boss_port"`
	// Placer chooses workers: round-robin, random, least-loaded, hash, warm-first.
	Placer string `json:"placer"`
	// Platform is what /scaling/worker_count acts on: "local" starts and stops
	// workers on this machine, "" nothing.
	Platform string `json:"platform"`
	// WorkerCap bounds the workers that the platform starts.
	WorkerCap int `json:"worker_cap"`
	// TimeoutSec is how long an invocation may take, seconds.
	TimeoutSec int `json:"timeout_sec"`
	// MaxBodyMB is the largest body of a request, MB.
	MaxBodyMB int `json:"max_body_mb"`
	// DrainSec is how long running invocations may take to end when the boss
	// stops, seconds.
	DrainSec int `json:"drain_sec"`
	// TokenFile holds the cluster's token; "" asks for none.
	TokenFile string `json:"token_file"`
	// TLSCert and TLSKey are files (PEM) to serve HTTPS with; "" serves HTTP.
	TLSCert string `json:"tls_cert"`
	TLSKey  string `json:"tls_key"`
	// TLSClientCA holds the certificates (PEM) that a client's must be signed
	// by; "" asks clients for none.
	TLSClientCA string `json:"tls_client_ca"`
	// CAFile holds the certificates (PEM) that those of workers, and of the
	// other bosses of a group, must be signed by; "" trusts what the machine
	// trusts.
	CAFile string `json:"ca_file"`
	// Insecure allows to listen on other addresses than loopback without a
	// token or TLS.
	Insecure bool  `json:"insecure"`
	Store    Store `json:"store"`
	Async    Async `json:"async"`
	// KafkaWorkers is on how many workers the Kafka consumers of a lambda run.
	KafkaWorkers int `json:"kafka_workers"`
}

// Async bounds asynchronous invocations. Bounds of the queue are those of the
// boss that started last.
type Async struct {
	// Slots is how many run at the same time on this boss.
	Slots int `json:"slots"`
	// QueueLimit is how many may be queued in the cluster; the next gets 429.
	QueueLimit int `json:"queue_limit"`
	// QueueMB is what all that are queued may have together, MB.
	QueueMB int `json:"queue_mb"`
	// MaxBodyKB is the largest body of a request, KB; NATS itself takes 16 MB
	// embedded, and 1 MB by default elsewhere.
	MaxBodyKB int `json:"max_body_kb"`
	// MaxResultKB is the largest body of an answer that is kept, KB.
	MaxResultKB int `json:"max_result_kb"`
	// KeepSec is how long answers are kept, seconds.
	KeepSec int `json:"keep_sec"`
	// KeepDeadSec is how long dead letters are kept, seconds.
	KeepDeadSec int `json:"keep_dead_sec"`
	// ExpireSec is the age at which what no worker could begin with is given
	// up, seconds.
	ExpireSec int `json:"expire_sec"`
	// LeaseSec is how long after the death of a boss another one takes over what
	// it ran, seconds.
	LeaseSec int `json:"lease_sec"`
	// Attempts, BaseMS and CapMS hold for lambdas whose ol.yaml is silent: how
	// often one is tried, and the first and the longest pause in between.
	Attempts int `json:"attempts"`
	BaseMS   int `json:"base_ms"`
	CapMS    int `json:"cap_ms"`
}

func (a Async) validate(v *validation) {
	v.atLeast("async.slots", a.Slots, 1, "asynchronous invocations must be able to run")
	v.atLeast("async.queue_limit", a.QueueLimit, 1, "there must be room for one")
	v.atLeast("async.queue_mb", a.QueueMB, 1, "there must be room for one")
	v.atLeast("async.max_body_kb", a.MaxBodyKB, 1, "a lambda must be able to take a body")
	v.atLeast("async.max_result_kb", a.MaxResultKB, 1, "an answer needs room")
	v.atLeast("async.keep_sec", a.KeepSec, 1, "an answer must be kept until it is fetched")
	v.atLeast("async.keep_dead_sec", a.KeepDeadSec, 1, "a dead letter must be kept until it is seen")
	v.atLeast("async.expire_sec", a.ExpireSec, 1, "an invocation must be given time")
	v.atLeast("async.lease_sec", a.LeaseSec, 1, "a boss must be able to say that it lives")
	v.atLeast("async.attempts", a.Attempts, 1, "there is a first attempt")
	v.atLeast("async.base_ms", a.BaseMS, 1, "there must be a pause")
	v.atLeast("async.cap_ms", a.CapMS, a.BaseMS, "it cannot be less than async.base_ms")
	const most = 10 << 10 // of 16 MB, with room for headers
	for key, got := range map[string]int{"async.max_body_kb": a.MaxBodyKB, "async.max_result_kb": a.MaxResultKB} {
		if got > most {
			v.fail(key, got, "the store takes no more in one piece", strconv.Itoa(most))
		}
	}
}

// Store is where a boss keeps what must not be lost.
type Store struct {
	// URL of a NATS with JetStream that runs elsewhere, nats://USER:PASSWORD@host:4222
	// or tls://; "" is embedded.
	URL string `json:"url"`
	// Replicas is how many stores of the NATS at URL hold a value: 1, 3 or 5.
	Replicas int `json:"replicas"`
	// Code is where the archives of lambdas are kept: a file://, s3:// or gs://
	// URL of a bucket that all bosses reach; "" keeps them with the rest.
	Code string `json:"code"`
	// Name of this boss in its group.
	Name string `json:"name"`
	// Listen is host:port for the group's other bosses; "": there are none.
	Listen string `json:"listen"`
	// Peers are host:port of all three bosses of the group, this one included,
	// separated by commas.
	Peers string `json:"peers"`
	// Sync is when a write reaches the disk: "interval" (within 100 ms: what
	// was acknowledged survives the death of the process) or "always" (before
	// it is acknowledged: it survives the loss of power).
	Sync string `json:"sync"`
}

// Loopback tells whether only this machine reaches what listens on a host.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// NewBoss returns the defaults of a boss that lives in dir (absolute).
func NewBoss(dir string) Boss {
	return Boss{
		BossDir: dir, BossURL: "localhost", BossPort: "5000", Placer: "hash", WorkerCap: 20, TimeoutSec: 300, MaxBodyMB: 64,
		DrainSec: 30, Store: Store{Sync: "interval", Replicas: 1},
		KafkaWorkers: 2,
		Async: Async{
			Slots: 64, QueueLimit: 10_000, QueueMB: 1024, MaxBodyKB: 4096, MaxResultKB: 4096,
			KeepSec: 3600, KeepDeadSec: 30 * 24 * 3600, ExpireSec: 24 * 3600, LeaseSec: 15, Attempts: 5, BaseMS: 1000, CapMS: 60_000,
		},
	}
}

// LoadBoss overlays the sources on the defaults and validates the result, as
// Load does for a worker.
func LoadBoss(defaults Boss, src Sources) (Boss, error) {
	t, err := newTree(defaults)
	if err != nil {
		return Boss{}, err
	}
	if err := t.overlayAll(src); err != nil {
		return Boss{}, err
	}
	var b Boss
	if err := t.into(&b); err != nil {
		return Boss{}, err
	}
	return b, b.Validate()
}

// Validate reports the impossible values.
func (b Boss) Validate() error {
	v := &validation{}
	if p, err := strconv.Atoi(b.BossPort); err != nil || p < 0 || p > 65535 {
		v.fail("boss_port", strconv.Quote(b.BossPort), "a TCP port is a number from 0 to 65535", "5000")
	}
	v.oneOf("placer", b.Placer, "round-robin", "random", "least-loaded", "hash", "warm-first")
	v.oneOf("platform", b.Platform, "", "local")
	v.atLeast("timeout_sec", b.TimeoutSec, 1, "an invocation must be given time")
	v.atLeast("max_body_mb", b.MaxBodyMB, 1, "a lambda must be able to take a body")
	v.atLeast("drain_sec", b.DrainSec, 1, "invocations must be given time to end")
	v.atLeast("worker_cap", b.WorkerCap, 0, "it cannot be negative")
	v.together("tls_cert", b.TLSCert, "tls_key", b.TLSKey)
	if b.TLSClientCA != "" && b.TLSCert == "" {
		v.fail("tls_client_ca", strconv.Quote(b.TLSClientCA), "only a boss that serves TLS (tls_cert) can ask clients for certificates", "")
	}
	b.Store.validate(v)
	v.atLeast("kafka_workers", b.KafkaWorkers, 1, "somebody must consume")
	b.Async.validate(v)
	return joined(v)
}

// groupSize is how many bosses a group has: with two, the loss of either stops
// writes; four outvote no more losses than three.
const groupSize = 3

func (s Store) validate(v *validation) {
	v.oneOf("store.sync", s.Sync, "interval", "always")
	v.oneOf("store.replicas", strconv.Itoa(s.Replicas), "1", "3", "5")
	if n := len(s.PeerList()); (s.Listen != "" || n > 0) && n != groupSize {
		v.fail("store.peers", strconv.Quote(s.Peers), fmt.Sprintf("a cluster has 1 boss, which names no peers, or %d, and each names all of them, itself included: these are %d", groupSize, n), "")
	}
	if s.Listen == "" && s.Peers != "" {
		v.fail("store.listen", `""`, "a boss with peers needs an address for them", "")
	}
	if s.URL != "" && s.Listen != "" {
		v.fail("store.url", strconv.Quote(s.URL), "bosses that use a NATS elsewhere form no group: leave out store.listen and store.peers", "")
	}
	if s.URL == "" && s.Replicas > 1 {
		v.fail("store.replicas", s.Replicas, "it is for a NATS elsewhere (store.url): a group of bosses holds everything three times anyway", "1")
	}
}

// PeerList is Peers, taken apart.
func (s Store) PeerList() []string {
	var peers []string
	for p := range strings.SplitSeq(s.Peers, ",") {
		if p = strings.TrimSpace(p); p != "" {
			peers = append(peers, p)
		}
	}
	return peers
}

// Save writes the configuration to path, by way of a temporary file.
func (b Boss) Save(path string) error {
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return fmt.Errorf("save config: %w", err)
	}
	return save(path, append(text, '\n'))
}
