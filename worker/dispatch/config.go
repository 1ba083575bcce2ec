package dispatch

import (
	"errors"
	"log/slog"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/engine"
	"github.com/open-lambda/open-lambda/worker/events"
	"github.com/open-lambda/open-lambda/worker/sandbox"
)

// Stepper is the engine as the dispatcher uses it: *engine.Engine.
type Stepper interface {
	Step(now policies.Time, ev engine.Event, out []engine.Action) []engine.Action
	NextTimer() (policies.Time, bool)
}

// Observer hears what happened, outside of the mutex. Calls are concurrent.
type Observer interface {
	// Created reports a start that ended; err is nil or a *sandbox.StartError.
	Created(function, origin string, took time.Duration, err error)
	// Destroyed reports a sandbox that is gone.
	Destroyed(function string, reason engine.Reason, took time.Duration)
}

// Config is what a Dispatcher needs. Engine and Provider are required.
type Config struct {
	Engine   Stepper
	Provider sandbox.Provider
	Observer Observer      // optional
	Events   *events.Log   // optional
	Logger   *slog.Logger  // optional
	Prefix   string        // begins sandbox ids; [a-z0-9-]
	PoolMB   int64         // shown in snapshots
	Freeze   time.Duration // idle time before a sandbox is frozen; negative: never
	Queue    time.Duration // longest wait for a sandbox; 0: no limit
	Ping     time.Duration // time for the runtime to say that it is free again after a client left; 0: 1 s
	Destroy  time.Duration // time that one destruction may take before it is logged as late; 0: 10 s

	// Now is the engine's clock: never 0, never backwards. Nil: time since New.
	Now func() policies.Time
}

func (c *Config) fill() error {
	if c.Engine == nil || c.Provider == nil {
		return errors.New("make dispatcher: engine and provider are required")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Observer == nil {
		c.Observer = deaf{}
	}
	if c.Ping == 0 {
		c.Ping = time.Second
	}
	if c.Destroy == 0 {
		c.Destroy = 10 * time.Second
	}
	if c.Now == nil {
		epoch := time.Now()
		c.Now = func() policies.Time { return policies.Time(time.Since(epoch)) + 1 }
	}
	return nil
}

// deaf hears nothing.
type deaf struct{}

func (deaf) Created(string, string, time.Duration, error)   {}
func (deaf) Destroyed(string, engine.Reason, time.Duration) {}
