package lambda

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
)

// methods that a trigger can name.
func methods() []string {
	return []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace, "*",
	}
}

// MaxAttempts bounds how often an asynchronous invocation is tried.
const MaxAttempts = 100

// number is a setting that counts something.
type number struct {
	key         string
	value, most int
}

// numbers are the settings that count, and the most that each may be: what the
// kernel takes (PID_MAX_LIMIT, NR_CPUS), or what nobody can mean. Sums and
// products of them fit where they are used.
func (c *Config) numbers() []number {
	const year = 365 * 24 * 3600
	l, a := c.Limits, c.Async
	return []number{
		{"limits.mem_mb", l.MemMB, 16 << 20},
		{"limits.cpu_percent", l.CPUPercent, 8192 * 100},
		{"limits.procs", l.Procs, 4 << 20},
		{"limits.runtime_sec", l.RuntimeSec, year},
		{"limits.swappiness", l.Swappiness, 100},
		{"concurrency", c.Concurrency, 10_000},
		{"min_sandboxes", c.MinSandboxes, 1_000_000},
		{"max_sandboxes", c.MaxSandboxes, 1_000_000},
		{"async.attempts", a.Attempts, MaxAttempts},
		{"async.base_ms", a.BaseMS, year * 1000},
		{"async.cap_ms", a.CapMS, year * 1000},
	}
}

// check finds values that cannot work.
func (c *Config) check() error {
	for _, n := range c.numbers() {
		if n.value > n.most {
			return fmt.Errorf("%s is %d: it can be at most %d", n.key, n.value, n.most)
		}
	}
	for _, t := range c.Triggers.HTTP {
		if !slices.Contains(methods(), t.Method) {
			return fmt.Errorf("triggers.http: method %q does not exist: use one of %s", t.Method, strings.Join(methods(), " "))
		}
	}
	if err := c.Triggers.check(); err != nil {
		return err
	}
	if c.MaxSandboxes > 0 && c.MinSandboxes > c.MaxSandboxes {
		return fmt.Errorf("min_sandboxes %d is more than max_sandboxes %d", c.MinSandboxes, c.MaxSandboxes)
	}
	if !c.ReuseSandbox && c.Concurrency > 1 {
		return errors.New("reuse-sandbox: false gives each request a sandbox of its own, so concurrency must be 1")
	}
	if !slices.Contains([]string{"", "none", "nat", "host"}, c.Network) {
		return fmt.Errorf("network %q does not exist: use none, nat or host", c.Network)
	}
	for _, name := range c.Calls {
		if err := CheckName(name); err != nil {
			return fmt.Errorf("calls: %w", err)
		}
	}
	if c.Limits.MemMB != 0 && c.Limits.MemMB < 16 {
		return fmt.Errorf("limits.mem_mb is %d: a Python process needs about 16 MB to start", c.Limits.MemMB)
	}
	if c.Async.CapMS > 0 && c.Async.BaseMS > c.Async.CapMS {
		return fmt.Errorf("async.base_ms %d is more than async.cap_ms %d", c.Async.BaseMS, c.Async.CapMS)
	}
	if !filepath.IsLocal(c.Entry()) {
		return fmt.Errorf("OL_ENTRY_FILE %q leaves the lambda's directory", c.Entry())
	}
	return nil
}

// check finds triggers of other kinds than HTTP that cannot work.
func (t *Triggers) check() error {
	for _, c := range t.Cron {
		if _, err := ParseSchedule(c.Schedule); err != nil {
			return fmt.Errorf("triggers.cron: %w", err)
		}
	}
	for _, k := range t.Kafka {
		if len(k.BootstrapServers) == 0 || len(k.Topics) == 0 {
			return errors.New("triggers.kafka: bootstrap_servers and topics are required")
		}
		if !slices.Contains([]string{"", "earliest", "latest"}, k.AutoOffsetReset) {
			return fmt.Errorf("triggers.kafka: auto_offset_reset %q does not exist: use earliest or latest", k.AutoOffsetReset)
		}
	}
	return nil
}
