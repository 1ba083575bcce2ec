package engine

import "github.com/open-lambda/open-lambda/policies"

// Engine is the scheduler of one node.
type Engine struct{}

// New returns an engine.
func New(Config) (*Engine, error) { return nil, nil }

// Step feeds one event and appends the actions to out.
func (e *Engine) Step(now policies.Time, ev Event, out []Action) []Action { return out }

// NextTimer returns the next moment at which an EvTick must be fed.
func (e *Engine) NextTimer() (policies.Time, bool) { return 0, false }
