package study

import (
	"maps"
	"slices"
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

// ParsePolicy reads NAME[:key=value]..., where NAME is a preset of the catalog
// and the keys are the parameters of its parts, or scaler and evictor, which
// replace a part. coldPerMB is what a part that must guess a cold start is
// told, unless the text says something else. The error is a
// *catalog.UnknownError or a *catalog.ValueError.
func ParsePolicy(text string, coldPerMB time.Duration) (Policy, error) {
	parts := strings.Split(text, ":")
	name, scaler, evictor := parts[0], "", ""
	values := map[string]string{}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "scaler":
			scaler = value
		case "evictor":
			evictor = value
		default:
			values[key] = value
		}
	}
	p := Policy{Label: text, New: func(oracle policies.Oracle) (catalog.Policy, error) {
		return catalog.New(name, scaler, evictor, catalog.Params{ColdPerMB: coldPerMB, Values: maps.Clone(values), Oracle: oracle})
	}}
	p.Future = wantsFuture(name, scaler, evictor)
	_, err := p.New(nobody{})
	return p, err
}

// nobody is an Oracle that knows nothing, to see whether a policy can be made.
type nobody struct{}

func (nobody) NextArrival(policies.FuncID, int) policies.Time { return policies.Never }
func (nobody) Exec(policies.RequestID) time.Duration          { return 0 }

// wantsFuture reports whether one of the parts needs an Oracle.
func wantsFuture(names ...string) bool {
	return slices.ContainsFunc(catalog.Entries(), func(e catalog.Entry) bool {
		return slices.Contains(names, e.Name) && slices.Contains(e.Caps, catalog.CapOracle)
	})
}
