package lambda

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/src/config"
)

// ConfigFile is the name of the file in a lambda that Parse reads.
const ConfigFile = "ol.yaml"

// EntryFile is what is loaded unless OL_ENTRY_FILE in the environment of
// ol.yaml says otherwise.
const EntryFile = "f.py"

// Config is what ol.yaml says. The JSON form of the first three fields is
// OpenLambda's answer to /registry/<name>/config.
type Config struct {
	Triggers     Triggers
	Environment  map[string]string // variables of the sandbox
	ReuseSandbox bool              // false: every request gets a sandbox of its own

	Limits       config.Limits `json:",omitzero"`  // zero fields inherit from the worker
	Concurrency  int           `json:",omitempty"` // requests in one sandbox at once; 0 inherits
	Handler      string        `json:",omitempty"` // object in the entry file; "" finds f, then app
	MinSandboxes int           `json:",omitempty"` // kept pre-warmed
	MaxSandboxes int           `json:",omitempty"` // 0 is no limit
	Network      string        `json:",omitempty"` // "none", "nat", "host"; "" inherits
	Calls        []string      `json:",omitempty"` // lambdas that it may call at /host/invoke.sock
	Async        Async         `json:",omitzero"`  // of asynchronous invocations

	// What ReadDir finds beside ol.yaml.
	Requires []Requirement `json:"-"` // packages to install, in the order of the search path
	Own      []string      `json:"-"` // names that files and directories beside the entry file take as modules
	Imports  []string      `json:"-"` // modules that the entry file imports and the lambda does not bring along
}

// Async says how often, and when, an asynchronous invocation that failed is
// tried again. Zero fields inherit from the boss.
type Async struct {
	Attempts int `json:",omitempty"` // at most, the first one included
	BaseMS   int `json:",omitempty"` // pause after the first failure, doubled after each; milliseconds
	CapMS    int `json:",omitempty"` // longest pause, milliseconds
}

// Inherit returns a with every zero replaced by the value of base.
func (a Async) Inherit(base Async) Async {
	return Async{cmp.Or(a.Attempts, base.Attempts), cmp.Or(a.BaseMS, base.BaseMS), cmp.Or(a.CapMS, base.CapMS)}
}

// Triggers says what invokes the lambda.
type Triggers struct {
	HTTP  []HTTPTrigger // nil: every method; empty: none
	Cron  []CronTrigger
	Kafka []KafkaTrigger
}

// HTTPTrigger allows one method; "*" allows all.
type HTTPTrigger struct{ Method string }

// CronTrigger invokes the lambda at times.
type CronTrigger struct{ Schedule string }

// KafkaTrigger invokes the lambda for messages.
type KafkaTrigger struct {
	BootstrapServers []string
	Topics           []string
	AutoOffsetReset  string `json:",omitempty"`
}

// Default is the configuration of a lambda without ol.yaml.
func Default() Config {
	return Config{Environment: map[string]string{}, ReuseSandbox: true}
}

// WithoutBoss names the triggers that a worker without bosses does not serve by
// itself.
func (c *Config) WithoutBoss() []string {
	var out []string
	if len(c.Triggers.Cron) > 0 {
		out = append(out, ConfigFile+": triggers.cron has no effect here: bosses make the ticks, and this worker has none")
	}
	if len(c.Triggers.Kafka) > 0 {
		out = append(out, ConfigFile+": triggers.kafka has no effect before POST /kafka/register/NAME, which a boss would do by itself")
	}
	return out
}

// Allows tells whether the lambda takes the method over HTTP.
func (c *Config) Allows(method string) bool {
	if c.Triggers.HTTP == nil {
		return true
	}
	return slices.ContainsFunc(c.Triggers.HTTP, func(t HTTPTrigger) bool {
		return t.Method == method || t.Method == "*" || (method == http.MethodHead && t.Method == http.MethodGet)
	})
}

// Methods lists the allowed methods in the order of ol.yaml; nil if all are.
func (c *Config) Methods() []string {
	if c.Triggers.HTTP == nil {
		return nil
	}
	out := make([]string, 0, len(c.Triggers.HTTP))
	for _, t := range c.Triggers.HTTP {
		out = append(out, t.Method)
	}
	return out
}

// Entry returns the file that is loaded.
func (c *Config) Entry() string {
	if e := c.Environment["OL_ENTRY_FILE"]; e != "" {
		return e
	}
	return EntryFile
}

// Effective is what holds for a sandbox of the lambda once the worker's
// defaults are merged in.
type Effective struct {
	MemMB      int           // MB
	CPUPercent int           // percent of one core
	Procs      int           // processes and threads
	Runtime    time.Duration // longest execution of one request
	Slots      int           // requests in one sandbox at once
	Min, Max   int           // sandboxes; Max 0 is no limit
	OneShot    bool          // a sandbox serves one request
	Network    string        // "none", "nat" or "host"; "" is the worker's
}

// Effective merges the lambda's configuration with the worker's.
func (c *Config) Effective(w *config.Config) Effective {
	l := c.Limits.Inherit(w.Limits)
	e := Effective{
		MemMB: l.MemMB, CPUPercent: l.CPUPercent, Procs: l.Procs,
		Runtime: time.Duration(l.RuntimeSec) * time.Second,
		Slots:   max(c.Concurrency, 0), Min: c.MinSandboxes, Max: c.MaxSandboxes,
		OneShot: !c.ReuseSandbox, Network: c.Network,
	}
	if e.Slots == 0 {
		e.Slots = max(w.Policy.Concurrency, 1)
	}
	if e.OneShot {
		e.Slots = 1
	}
	return e
}
