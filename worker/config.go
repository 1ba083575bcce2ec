package worker

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/worker/fault"
	"github.com/open-lambda/open-lambda/worker/packages"
)

// Config is what a Worker needs.
type Config struct {
	Settings config.Config  // config.json, validated
	Provider Provider       // makes sandboxes; the worker closes it
	Policy   catalog.Policy // zero: what Settings.Policy names
	Name     string         // for X-Ol-Worker; "": host name and port
	Logger   *slog.Logger   // nil: silent
	Listener net.Listener   // nil: Settings.WorkerURL and WorkerPort
	Registry Registry       // nil: Settings.Registry
	Runner   Runner         // runs installers of packages; nil: lambdas cannot have any
	Index    packages.Index // where they come from; its Mirror is that of Settings
	// Token must be shown by whoever calls from another machine; "": nobody
	// needs one.
	Token string
	// Fault, for tests, makes steps fail that the host may refuse.
	Fault fault.Injector
}

func (c *Config) fill() error {
	if c.Provider == nil {
		return errors.New("make worker: a sandbox provider is required")
	}
	if err := c.Settings.Validate(); err != nil {
		return fmt.Errorf("make worker: %w", err)
	}
	c.Index.Mirror = c.Settings.PipMirror
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Policy.Scaler != nil {
		return nil
	}
	var err error
	if c.Policy, err = NewPolicy(c.Settings.Policy); err != nil {
		return fmt.Errorf("config key \"policy\": %w", err)
	}
	return nil
}

// NewPolicy makes the policy that a configuration names; its errors are those
// of catalog.New.
func NewPolicy(p config.Policy) (catalog.Policy, error) {
	return catalog.New(p.Preset, p.Scaler, p.Evictor, catalog.Params{
		Window: time.Duration(p.WindowSec) * time.Second, TD: p.TD, Clock: p.Clock,
		TTL: time.Duration(p.TTLSec) * time.Second, TTLFrom: p.TTLFrom,
	})
}

func (c *Config) engine() engine.Config {
	s := &c.Settings
	slots := s.StartSlots
	if slots == 0 {
		slots = 2 * runtime.GOMAXPROCS(0)
	}
	return engine.Config{
		PoolMB: int64(s.MemPoolMB), StartSlots: slots, QueueLimit: s.QueueLimit,
		StarveMin: millis(max(s.Policy.StarveAfterMS, 0)),
		Scaler:    c.Policy.Scaler, Evictor: c.Policy.Evictor, Picker: c.Policy.Picker, Prewarmer: c.Policy.Prewarmer,
	}
}

func millis(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func (c *Config) dir(elem ...string) string {
	return filepath.Join(append([]string{c.Settings.WorkerDir}, elem...)...)
}

// listen binds the TCP port, and says which key to change if it is taken.
func (c *Config) listen() (net.Listener, error) {
	if c.Listener != nil {
		return c.Listener, nil
	}
	addr := net.JoinHostPort(c.Settings.WorkerURL, c.Settings.WorkerPort)
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; is another worker running? choose another port with -o worker_port=N", addr, err)
	}
	return l, nil
}

func (c *Config) name(addr net.Addr) string {
	if c.Name != "" {
		return c.Name
	}
	host, err := os.Hostname()
	if err != nil {
		host = "worker"
	}
	if tcp, ok := addr.(*net.TCPAddr); ok {
		return fmt.Sprintf("%s:%d", host, tcp.Port)
	}
	return host
}
