package catalog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/cidre"
	"github.com/open-lambda/open-lambda/policies/coldstart"
	"github.com/open-lambda/open-lambda/policies/faascache"
	"github.com/open-lambda/open-lambda/policies/lru"
	"github.com/open-lambda/open-lambda/policies/ttl"
)

// Default is the preset of the product.
const Default = "cidre"

// Params are the settings that a preset or a part may read. Zero values mean
// the default of each.
type Params struct {
	Window    time.Duration // css: sliding window; 15 min
	TD        string        // css: "head-age" or "completed"
	TTL       time.Duration // ttl: keep-alive; 10 min
	TTLFrom   string        // ttl: "idle" or "lifespan"
	Clock     string        // cip: "zero" or "inflated"
	ColdPerMB time.Duration // cost of a cold start before there are samples; 1.7 ms per MB
}

// Policy is a set of parts for one engine.
type Policy struct {
	Name      string
	Scaler    policies.Scaler
	Evictor   policies.Evictor
	Picker    policies.Picker
	Prewarmer policies.Prewarmer
}

// Entry describes a preset, a scaler or an evictor.
type Entry struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"` // "preset", "scaler" or "evictor"
	Scaler     string `json:"scaler,omitempty"`
	Evictor    string `json:"evictor,omitempty"`
	Confidence string `json:"confidence"` // A: code or a formula in print, B: public summary, C: in the style of
	Source     string `json:"source"`
	Summary    string `json:"summary"`
}

const (
	paper   = "CIDRE, ASPLOS'25"
	scaler  = "scaler"
	evictor = "evictor"
	preset  = "preset"
)

// Entries lists everything that has a name, presets first.
func Entries() []Entry {
	return []Entry{
		{"cidre", preset, "css", "cip", "A", paper + ", s. 3", "CSS with CIP, wait bounded by a timer; the default"},
		{"cidre-literal", preset, "css-literal", "cip", "A", paper + ", s. 3", "CSS as the text says: completed waits only, no timer"},
		{"cidre-bss", preset, "bss", "cip", "A", paper + ", s. 3.2", "every blocked request races a start, with CIP"},
		{"css", preset, "css", "faascache", "A", paper + ", Fig. 15", "CSS alone: FaasCache evicts"},
		{"bss", preset, "bss", "faascache", "A", paper + ", Fig. 15", "BSS alone: FaasCache evicts"},
		{"cip", preset, "coldstart", "cip", "A", paper + ", Fig. 15", "CIP alone: a blocked request is bound to its start"},
		{"faascache", preset, "coldstart", "faascache", "A", "FaasCache, ASPLOS'21", "greedy-dual keep-alive"},
		{"faascache-c", preset, "coldstart", "faascache-c", "A", paper + ", Eq. 2", "FaasCache divided by the function's sandboxes"},
		{"lru", preset, "coldstart", "lru", "A", "textbook", "least recently used goes first"},
		{"ttl", preset, "coldstart", "ttl", "B", "OpenLambda's keep-alive", "a fixed time after the last use (10 min)"},
		{"css", scaler, "", "", "A", paper + ", Alg. 1", "race a start, stop racing when new sandboxes prove useless"},
		{"css-literal", scaler, "", "", "A", paper + ", Alg. 1", "css with td=completed and without the timer"},
		{"bss", scaler, "", "", "A", paper + ", s. 3.2", "always race a start against the busy sandboxes"},
		{"coldstart", scaler, "", "", "A", paper + ", s. 2.3", "one start per blocked request, bound to it"},
		{"cip", evictor, "", "", "A", paper + ", Eq. 3", "clock + freq * cost / (size * |F|)"},
		{"faascache", evictor, "", "", "A", paper + ", Eq. 1", "clock + freq * cost / size"},
		{"faascache-c", evictor, "", "", "A", paper + ", Eq. 2", "clock + freq * cost / (size * K)"},
		{"lru", evictor, "", "", "A", "textbook", "least recently used goes first"},
		{"ttl", evictor, "", "", "B", "OpenLambda's keep-alive", "destroys after a fixed time"},
	}
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

// UnknownError is a name that the catalog does not have.
type UnknownError struct {
	Kind, Name string
	Known      []string
}

// Error names the kind, the name and what is known.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown %s %q; known: %s", e.Kind, e.Name, strings.Join(e.Known, ", "))
}

// New makes the policy of a preset; a scaler or an evictor named besides
// replaces the preset's. Empty names mean the default. An unknown name is an
// *UnknownError.
func New(name, scalerName, evictorName string, p Params) (Policy, error) {
	if name == "" {
		name = Default
	}
	i := slices.IndexFunc(Entries(), func(e Entry) bool { return e.Kind == preset && e.Name == name })
	if i < 0 {
		return Policy{}, &UnknownError{preset, name, Names(preset)}
	}
	e := Entries()[i]
	if scalerName == "" {
		scalerName = e.Scaler
	}
	if evictorName == "" {
		evictorName = e.Evictor
	}
	s, err := newScaler(scalerName, p)
	if err != nil {
		return Policy{}, err
	}
	v, err := newEvictor(evictorName, p)
	if err != nil {
		return Policy{}, err
	}
	if scalerName != e.Scaler || evictorName != e.Evictor {
		name = scalerName + "+" + evictorName
	}
	return Policy{Name: name, Scaler: s, Evictor: v}, nil
}

func newScaler(name string, p Params) (policies.Scaler, error) {
	switch name {
	case "css", "css-literal":
		cfg := cidre.DefaultCSS()
		if name == "css-literal" {
			cfg.Delay, cfg.Timer = cidre.Completed, false
		}
		if p.Window != 0 {
			cfg.Window = p.Window
		}
		if p.ColdPerMB != 0 {
			cfg.ColdPerMB = p.ColdPerMB
		}
		switch p.TD {
		case "":
		case "head-age":
			cfg.Delay = cidre.HeadAge
		case "completed":
			cfg.Delay = cidre.Completed
		default:
			return nil, &UnknownError{"td", p.TD, []string{"head-age", "completed"}}
		}
		return cidre.NewCSS(cfg)
	case "bss":
		return cidre.BSS{}, nil
	case "coldstart":
		return coldstart.Scaler{}, nil
	}
	return nil, &UnknownError{scaler, name, Names(scaler)}
}

func newEvictor(name string, p Params) (policies.Evictor, error) {
	switch name {
	case "cip":
		cfg := cidre.CIPConfig{ColdPerMB: p.ColdPerMB}
		switch p.Clock {
		case "", "zero":
		case "inflated":
			cfg.Inflated = true
		default:
			return nil, &UnknownError{"clock", p.Clock, []string{"zero", "inflated"}}
		}
		return cidre.NewCIP(cfg), nil
	case "faascache", "faascache-c":
		return faascache.New(faascache.Config{PerSandbox: name == "faascache-c", ColdPerMB: p.ColdPerMB}), nil
	case "lru":
		return &lru.LRU{}, nil
	case "ttl":
		return newTTL(p)
	}
	return nil, &UnknownError{evictor, name, Names(evictor)}
}

func newTTL(p Params) (policies.Evictor, error) {
	keep, from := ttl.Default, ttl.Idle
	if p.TTL != 0 {
		keep = p.TTL
	}
	switch p.TTLFrom {
	case "", "idle":
	case "lifespan":
		from = ttl.Lifespan
	default:
		return nil, &UnknownError{"ttl", p.TTLFrom, []string{"idle", "lifespan"}}
	}
	return ttl.New(keep, from)
}
