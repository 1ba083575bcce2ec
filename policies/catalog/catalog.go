package catalog

import (
	"fmt"
	"slices"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/cidreplus"
)

// Default is the preset of the product.
const Default = "cidre"

// Params are the settings that a preset or a part may read. Zero values mean
// the default of each.
//
// The fields are settings of the product: a part that does not have one
// ignores it. Values has any parameter that Entry.Params lists, by name and in
// the form of its default; there a name that the chosen parts do not have is an
// *UnknownError, and Values wins over a field.
type Params struct {
	Window    time.Duration // css: sliding window; 15 min
	TD        string        // css: "head-age" or "completed"
	TTL       time.Duration // ttl: keep-alive; 10 min
	TTLFrom   string        // ttl: "idle" or "lifespan"
	Clock     string        // cip: "zero" or "inflated"
	ColdPerMB time.Duration // cost of a cold start before there are samples; 1.7 ms per MB

	Values map[string]string
	Oracle policies.Oracle // the future, for the parts with CapOracle
}

// Policy is a set of parts for one engine. A driver gives all of them to
// engine.Config; Picker and Prewarmer may be nil.
type Policy struct {
	Name      string
	Scaler    policies.Scaler
	Evictor   policies.Evictor
	Picker    policies.Picker
	Prewarmer policies.Prewarmer
}

// Kinds of entries.
const (
	preset  = "preset"
	scaler  = "scaler"
	evictor = "evictor"
)

// What a policy may need of a provider beyond making and destroying sandboxes.
const (
	// CapLayers: an idle sandbox can be demoted to a layer that other
	// functions' starts are built from.
	CapLayers = "layers"
	// CapCompress: the memory of an idle sandbox can be compressed.
	CapCompress = "compress"
	// CapOracle: the future is known. Only a simulator has it.
	CapOracle = "oracle"
)

// Entry describes a preset, a scaler or an evictor.
type Entry struct {
	Name       string   `json:"name"`
	Kind       string   `json:"kind"` // "preset", "scaler" or "evictor"
	Scaler     string   `json:"scaler,omitempty"`
	Evictor    string   `json:"evictor,omitempty"`
	Confidence string   `json:"confidence"` // A: code or a formula in print, B: public summary, C: in the style of
	Source     string   `json:"source"`
	Summary    string   `json:"summary"`
	Caps       []string `json:"caps,omitempty"`   // what a provider must be capable of, see CapLayers
	Params     []Param  `json:"params,omitempty"` // of a preset: those of its parts
}

// Entries lists everything that has a name: presets, scalers, evictors.
func Entries() []Entry {
	entries := presets()
	for i := range entries {
		e := &entries[i]
		s, v := findScaler(e.Scaler), findEvictor(e.Evictor)
		e.Params = merge(s.Params, v.Params)
		e.Caps = mergeCaps(s.Caps, v.Caps)
	}
	for _, s := range scalers() {
		entries = append(entries, s.Entry)
	}
	for _, v := range evictors() {
		entries = append(entries, v.Entry)
	}
	return entries
}

// merge joins two lists of parameters; one that both have appears once.
func merge(a, b []Param) []Param {
	all := slices.Clone(a)
	for _, p := range b {
		if !slices.ContainsFunc(a, func(q Param) bool { return q.Name == p.Name }) {
			all = append(all, p)
		}
	}
	return all
}

func mergeCaps(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Names lists the names of a kind, or all presets if kind is "".
func Names(kind string) []string {
	if kind == "" {
		kind = preset
	}
	var names []string
	for _, e := range Entries() {
		if e.Kind == kind {
			names = append(names, e.Name)
		}
	}
	return names
}

// Find returns the entry of a preset; ok is false if there is none.
func Find(name string) (Entry, bool) {
	entries := Entries()
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Kind == preset && e.Name == name })
	if i < 0 {
		return Entry{}, false
	}
	return entries[i], true
}

// New makes the policy of a preset; a scaler or an evictor named besides
// replaces the preset's. Empty names mean the default. An unknown name or
// parameter is an *UnknownError, a value that cannot be read a *ValueError.
func New(name, scalerName, evictorName string, p Params) (Policy, error) {
	if name == "" {
		name = Default
	}
	e, ok := Find(name)
	if !ok {
		return Policy{}, &UnknownError{preset, name, Names(preset)}
	}
	if scalerName == "" {
		scalerName = e.Scaler
	}
	if evictorName == "" {
		evictorName = e.Evictor
	}
	if scalerName != e.Scaler || evictorName != e.Evictor {
		name = scalerName + "+" + evictorName
	}
	return assemble(name, findScaler(scalerName), scalerName, findEvictor(evictorName), evictorName, p)
}

func assemble(name string, s *scalerPart, sName string, v *evictorPart, vName string, p Params) (Policy, error) {
	switch {
	case s == nil:
		return Policy{}, &UnknownError{scaler, sName, Names(scaler)}
	case v == nil:
		return Policy{}, &UnknownError{evictor, vName, Names(evictor)}
	}
	set := newSettings(p)
	if err := set.known(merge(s.Params, v.Params)); err != nil {
		return Policy{}, err
	}
	made := Policy{Name: name}
	var err error
	if made.Scaler, err = s.make(set); err == nil {
		made.Evictor, err = v.make(set)
	}
	switch {
	case set.err != nil:
		return Policy{}, set.err
	case err != nil:
		return Policy{}, fmt.Errorf("make policy %s: %w", name, err)
	}
	if s, ok := made.Scaler.(*cidreplus.ExpectedWait); ok {
		if m, ok := made.Evictor.(*cidreplus.Marginal); ok {
			s.Join(m)
		}
	}
	// An evictor may be a prewarmer or a picker as well: it is one value,
	// so that it decides on what it observed in both parts.
	made.Prewarmer, _ = made.Evictor.(policies.Prewarmer)
	made.Picker, _ = made.Evictor.(policies.Picker)
	return made, nil
}
