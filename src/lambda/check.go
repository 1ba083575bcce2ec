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

// check finds values that cannot work.
func (c *Config) check() error {
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
	if c.Async.Attempts > MaxAttempts {
		return fmt.Errorf("async.attempts is %d: at most %d make sense", c.Async.Attempts, MaxAttempts)
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
