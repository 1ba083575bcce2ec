package study

import (
	"fmt"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
)

// Policy is a policy to be simulated.
type Policy struct {
	Label  string
	Future bool // it must know the workload: see sim.Config.Future
	New    func(policies.Oracle) (catalog.Policy, error)
}

// ParamError is a setting that does not exist or has an impossible value.
type ParamError struct {
	Key, Value string
	Want       string   // what a value must be, "" if the key does not exist
	Known      []string // keys
}

// Error names the key, and what is known or expected.
func (e *ParamError) Error() string {
	if e.Want == "" {
		return fmt.Sprintf("unknown policy parameter %q; known: %s", e.Key, strings.Join(e.Known, ", "))
	}
	return fmt.Sprintf("policy parameter %s is %q: expected %s", e.Key, e.Value, e.Want)
}

// ParsePolicy reads NAME[:key=value]..., where NAME is a preset of the catalog
// and the keys are those of Keys. Defaults apply where the text is silent. The
// error is a *catalog.UnknownError or a *ParamError.
func ParsePolicy(text string, defaults catalog.Params) (Policy, error) {
	parts := strings.Split(text, ":")
	s := settings{Params: defaults}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		if err := s.set(key, value); err != nil {
			return Policy{}, err
		}
	}
	name := parts[0]
	p := Policy{Label: text, New: func(oracle policies.Oracle) (catalog.Policy, error) {
		return s.make(name, oracle)
	}}
	_, err := p.New(nil)
	return p, err
}

type settings struct {
	catalog.Params
	scaler, evictor string
}

func (s *settings) make(name string, _ policies.Oracle) (catalog.Policy, error) {
	return catalog.New(name, s.scaler, s.evictor, s.Params)
}

// Keys lists the settings of a policy.
func Keys() []string {
	return []string{"scaler", "evictor", "window", "td", "ttl", "ttl-from", "clock", "cold-per-mb"}
}

func (s *settings) set(key, value string) error {
	switch key {
	case "scaler":
		s.scaler = value
	case "evictor":
		s.evictor = value
	case "td":
		s.TD = value
	case "ttl-from":
		s.TTLFrom = value
	case "clock":
		s.Clock = value
	case "window":
		return duration(&s.Window, key, value)
	case "ttl":
		return duration(&s.TTL, key, value)
	case "cold-per-mb":
		return duration(&s.ColdPerMB, key, value)
	default:
		return &ParamError{Key: key, Value: value, Known: Keys()}
	}
	return nil
}

func duration(to *time.Duration, key, value string) error {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return &ParamError{Key: key, Value: value, Want: "a time such as 90s or 15m"}
	}
	*to = d
	return nil
}
