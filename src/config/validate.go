package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// InvalidError is one value that cannot work.
type InvalidError struct {
	Key string // the key in config.json
	Got any    // its value
	Why string // why it cannot work
	Fix string // a value to type instead, "" if none can be named
}

// Error says what is wrong, why, and what to type.
func (e *InvalidError) Error() string {
	s := fmt.Sprintf("config key %q is %v: %s", e.Key, e.Got, e.Why)
	if e.Fix != "" {
		s += fmt.Sprintf("; try -o %s=%s", e.Key, e.Fix)
	}
	return s
}

// Validate reports every impossible value, joined; each is an *InvalidError.
func (c Config) Validate() error {
	v := &validation{}
	c.validatePlaces(v)
	c.validateWords(v)
	c.validateLimits(v)
	c.validateNumbers(v)
	c.validateKafka(v)
	c.NAT.validate(v)
	return joined(v)
}

func joined(v *validation) error { return errors.Join(v.errs...) }

type validation struct{ errs []error }

func (v *validation) fail(key string, got any, why, fix string) {
	v.errs = append(v.errs, &InvalidError{Key: key, Got: got, Why: why, Fix: fix})
}

func (v *validation) atLeast(key string, got, least int, why string) {
	if got < least {
		v.fail(key, got, why, strconv.Itoa(max(least, 1)))
	}
}

// together wants both values or none.
func (v *validation) together(key, got, otherKey, other string) {
	if (got == "") != (other == "") {
		v.fail(key, strconv.Quote(got), key+" and "+otherKey+" go together", "")
	}
}

func (v *validation) oneOf(key, got string, allowed ...string) {
	if slices.Contains(allowed, got) {
		return
	}
	quoted := make([]string, len(allowed))
	for i, a := range allowed {
		quoted[i] = strconv.Quote(a)
	}
	v.fail(key, strconv.Quote(got), "it must be "+strings.Join(quoted, " or "), Nearest(got, allowed))
}

func (c Config) validatePlaces(v *validation) {
	if !filepath.IsAbs(c.WorkerDir) {
		v.fail("worker_dir", strconv.Quote(c.WorkerDir), "it must be an absolute path", "")
	}
	if p, err := strconv.Atoi(c.WorkerPort); err != nil || p < 0 || p > 65535 {
		v.fail("worker_port", strconv.Quote(c.WorkerPort), "a TCP port is a number from 0 to 65535", "5000")
	}
	if !filepath.IsAbs(c.PkgsDir) {
		v.fail("Pkgs_dir", strconv.Quote(c.PkgsDir), "it must be an absolute path", "")
	}
	if scheme, _, ok := strings.Cut(c.PipMirror, "://"); c.PipMirror != "" && (!ok || scheme != "http" && scheme != "https") {
		v.fail("pip_mirror", strconv.Quote(c.PipMirror), "it must be the URL of a package index, which begins with http:// or https://", "https://pypi.org/simple")
	}
	if c.Registry == "" {
		v.fail("registry", `""`, "the worker must know where lambdas are stored", "/var/lib/openlambda/registry")
	}
	if scheme, _, ok := strings.Cut(c.Registry, "://"); ok {
		v.oneOf("registry", scheme, "file", "s3", "gs")
	}
}

func (c Config) validateWords(v *validation) {
	if c.Sandbox == "docker" {
		v.fail("sandbox", `"docker"`, "there is no Docker provider: SOCK sandboxes need no Docker", "sock")
	} else {
		v.oneOf("sandbox", c.Sandbox, "sock", "runc")
	}
	v.oneOf("server_mode", c.ServerMode, "lambda", "sock")
	v.oneOf("features.import_cache", c.Features.ImportCache, "tree", "multitree", "")
	v.oneOf("storage.root", c.Storage.Root, "", "memory", "private")
	v.oneOf("storage.scratch", c.Storage.Scratch, "", "memory", "private")
	v.oneOf("storage.code", c.Storage.Code, "", "memory", "private")
	v.oneOf("network", c.Network, "auto", "none", "nat", "host")
	v.oneOf("policy.td", c.Policy.TD, "head-age", "completed")
	v.oneOf("policy.ttl_from", c.Policy.TTLFrom, "idle", "lifespan")
	v.oneOf("policy.clock", c.Policy.Clock, "zero", "inflated")
}

func (c Config) validateLimits(v *validation) {
	l := c.Limits
	v.atLeast("limits.procs", l.Procs, 1, "a sandbox runs at least one process")
	v.atLeast("limits.mem_mb", l.MemMB, 16, "a Python process needs about 16 MB to start")
	v.atLeast("limits.cpu_percent", l.CPUPercent, 1, "a sandbox without CPU time never answers")
	v.atLeast("limits.runtime_sec", l.RuntimeSec, 1, "a request must be given time to run")
	if l.Swappiness < 0 || l.Swappiness > 100 {
		v.fail("limits.swappiness", l.Swappiness, "the kernel takes 0 to 100", "0")
	}
	m := c.LimitsMax
	v.atLeast("limits_max.procs", m.Procs, 0, "it cannot be negative; 0 is no bound")
	v.atLeast("limits_max.mem_mb", m.MemMB, 0, "memory cannot be negative; 0 is no bound")
	v.atLeast("limits_max.cpu_percent", m.CPUPercent, 0, "it cannot be negative; 0 is no bound")
	v.atLeast("limits_max.runtime_sec", m.RuntimeSec, 0, "time cannot be negative; 0 is no bound")
	i := c.InstallerLimits
	v.atLeast("installer_limits.mem_mb", i.MemMB, 0, "memory cannot be negative; 0 inherits from limits")
	v.atLeast("installer_limits.procs", i.Procs, 0, "it cannot be negative; 0 inherits from limits")
	v.atLeast("installer_limits.runtime_sec", i.RuntimeSec, 0, "time cannot be negative; 0 inherits from limits")
	v.atLeast("installer_limits.cpu_percent", i.CPUPercent, 0, "it cannot be negative; 0 inherits from limits")
	largest := max(l.MemMB, i.MemMB)
	if c.MemPoolMB < 2*largest {
		v.fail("mem_pool_mb", c.MemPoolMB, fmt.Sprintf("the pool must be at least twice the largest memory limit (%d MB)", largest), strconv.Itoa(2*largest))
	}
}

func (c Config) validateNumbers(v *validation) {
	v.atLeast("registry_cache_ms", c.RegistryCacheMS, 0, "a time cannot be negative")
	v.atLeast("queue_limit", c.QueueLimit, 0, "a length cannot be negative; 0 is no limit")
	v.atLeast("queue_timeout_ms", c.QueueTimeoutMS, 0, "a time cannot be negative; 0 is no limit")
	v.atLeast("freeze_grace_ms", c.FreezeGraceMS, -1, "a time cannot be negative; -1 never freezes")
	v.atLeast("max_body_mb", c.MaxBodyMB, 1, "a lambda must be able to take a body")
	v.atLeast("start_slots", c.StartSlots, 0, "it cannot be negative; 0 is two for each core")
	v.atLeast("drain_sec", c.DrainSec, 0, "a time cannot be negative")
	v.atLeast("pool_size", c.PoolSize, 0, "it cannot be negative; 0 keeps no pre-forked children")
	v.atLeast("import_cache_mb", c.ImportCacheMB, 16, "a Python process needs about 16 MB")
	v.atLeast("features.fault_percent", c.Features.FaultPercent, 0, "a share cannot be negative; 0 is for earnest")
	v.atLeast("pkgs_max_mb", c.PkgsMaxMB, 0, "a size cannot be negative; 0 is no limit")
	v.together("cluster.tls_cert", c.Cluster.TLSCert, "cluster.tls_key", c.Cluster.TLSKey)
	v.together("cluster.cert_file", c.Cluster.CertFile, "cluster.key_file", c.Cluster.KeyFile)
	if c.Cluster.TLSClientCA != "" && c.Cluster.TLSCert == "" {
		v.fail("cluster.tls_client_ca", strconv.Quote(c.Cluster.TLSClientCA), "only a worker that serves TLS (cluster.tls_cert) can ask callers for certificates", "")
	}
	v.atLeast("log_max_mb", c.LogMaxMB, 1, "a log needs room; switch logs off with -o log_output=false")
	p := c.Policy
	if p.Preset == "" && (p.Scaler == "" || p.Evictor == "") {
		v.fail("policy.preset", `""`, "without a preset both policy.scaler and policy.evictor must be named", "cidre")
	}
	v.atLeast("policy.window_sec", p.WindowSec, 1, "medians need a window")
	v.atLeast("policy.ttl_sec", p.TTLSec, 1, "a keep-alive must last")
	v.atLeast("policy.concurrency", p.Concurrency, 1, "a sandbox serves at least one request")
	v.atLeast("policy.starve_after_ms", p.StarveAfterMS, -1, "a time cannot be negative; -1 switches it off")
}
