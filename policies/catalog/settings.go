package catalog

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
)

// Param describes a parameter of a policy.
type Param struct {
	Name    string `json:"name"`
	Unit    string `json:"unit"`    // "duration", "number", "share", "MB", or "choice"
	Default string `json:"default"` // in the form in which a value is given
	Range   string `json:"range"`   // what values make sense
	Meaning string `json:"meaning"`
}

// settings are the values given, and the first error of reading one.
type settings struct {
	Params
	given map[string]string
	err   error
}

func newSettings(p Params) *settings {
	s := &settings{Params: p, given: map[string]string{}}
	for name, d := range map[string]time.Duration{"window": p.Window, "ttl": p.TTL, "cold-per-mb": p.ColdPerMB} {
		if d != 0 {
			s.given[name] = d.String()
		}
	}
	for name, word := range map[string]string{"td": p.TD, "ttl-from": p.TTLFrom, "clock": p.Clock} {
		if word != "" {
			s.given[name] = word
		}
	}
	maps.Copy(s.given, p.Values)
	return s
}

// known checks that every name in Values is one of the parameters.
func (s *settings) known(params []Param) error {
	var names []string
	for _, p := range params {
		names = append(names, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Values)) {
		if !slices.Contains(names, name) {
			return &UnknownError{"parameter", name, names}
		}
	}
	return nil
}

// read hands a given value to parse, which reports whether it could read it.
func (s *settings) read(name, want string, parse func(string) bool) {
	if value, ok := s.given[name]; ok && !parse(value) && s.err == nil {
		s.err = &ValueError{name, value, want}
	}
}

func (s *settings) duration(name string, into *time.Duration) {
	s.read(name, "a duration, for instance 90s or 10m", func(v string) bool {
		d, err := time.ParseDuration(v)
		*into = d
		return err == nil
	})
}

// positive reads a duration whose owner would take 0 or less for "default".
func (s *settings) positive(name string, into *time.Duration) {
	s.read(name, "a duration above 0, for instance 1.7ms", func(v string) bool {
		d, err := time.ParseDuration(v)
		*into = d
		return err == nil && d > 0
	})
}

func (s *settings) float(name string, into *float64) {
	s.read(name, "a finite number", func(v string) bool {
		f, err := strconv.ParseFloat(v, 64)
		*into = f
		return err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
	})
}

func (s *settings) integer(name string, into *int) {
	s.read(name, "a whole number", func(v string) bool {
		n, err := strconv.Atoi(v)
		*into = n
		return err == nil
	})
}

// choice returns the place of the given value in the options, 0 if none was
// given: the first option is the default.
func (s *settings) choice(name string, options ...string) int {
	value, ok := s.given[name]
	if !ok {
		return 0
	}
	i := slices.Index(options, value)
	if i < 0 && s.err == nil {
		s.err = &UnknownError{name, value, options}
	}
	return max(0, i)
}

func (s *settings) has(name string) bool {
	_, ok := s.given[name]
	return ok
}

// toggle reads "on" or "off".
func (s *settings) toggle(name string, into *bool) {
	if s.has(name) {
		*into = s.choice(name, "on", "off") == 0
	}
}
