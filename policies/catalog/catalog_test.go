package catalog_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
)

type blind struct{}

func (blind) NextArrival(policies.FuncID, int) policies.Time { return policies.Never }
func (blind) Exec(policies.RequestID) time.Duration          { return 0 }

func make1(t *testing.T, e catalog.Entry, values map[string]string) (catalog.Policy, error) {
	t.Helper()
	p := catalog.Params{Values: values, Oracle: blind{}}
	switch e.Kind {
	case "scaler":
		return catalog.New("", e.Name, "lru", p)
	case "evictor":
		return catalog.New("", "coldstart", e.Name, p)
	}
	return catalog.New(e.Name, "", "", p)
}

func TestDocumentedDefaultsAreTheDefaults(t *testing.T) {
	for _, e := range catalog.Entries() {
		plain, err := make1(t, e, nil)
		if err != nil {
			t.Fatalf("%s %s: %v", e.Kind, e.Name, err)
		}
		for _, param := range e.Params {
			given, err := make1(t, e, map[string]string{param.Name: param.Default})
			if err != nil {
				t.Errorf("%s %s: %s=%s: %v", e.Kind, e.Name, param.Name, param.Default, err)
				continue
			}
			if !reflect.DeepEqual(plain, given) {
				t.Errorf("%s %s: %s=%s is not its default", e.Kind, e.Name, param.Name, param.Default)
			}
		}
	}
}

func TestEveryParameterMatters(t *testing.T) {
	other := map[string]string{
		"number": "7", "share": "0.5", "duration": "3s",
	}
	special := map[string]string{"stable": "80s", "panic": "8s", "tick": "1s", "range": "5h", "bin": "2m", "min-ttl": "2m", "max-ttl": "20m"}
	for _, e := range catalog.Entries() {
		plain, _ := make1(t, e, nil)
		for _, param := range e.Params {
			value := other[param.Unit]
			if param.Unit == "choice" {
				options := strings.Split(param.Range, ", ")
				value = options[0]
				if value == param.Default {
					value = options[1]
				}
			}
			if v, ok := special[param.Name]; ok {
				value = v
			}
			changed, err := make1(t, e, map[string]string{param.Name: value})
			if err != nil {
				t.Errorf("%s %s: %s=%s: %v", e.Kind, e.Name, param.Name, value, err)
			} else if sameParts(plain, changed) {
				t.Errorf("%s %s: %s=%s changes nothing", e.Kind, e.Name, param.Name, value)
			}
		}
	}
}

func sameParts(a, b catalog.Policy) bool {
	return reflect.DeepEqual(a.Scaler, b.Scaler) && reflect.DeepEqual(a.Evictor, b.Evictor)
}

func TestEntriesAreComplete(t *testing.T) {
	if !slices.Contains(catalog.Names(""), catalog.Default) {
		t.Errorf("the default %q is no preset", catalog.Default)
	}
	seen := map[string]bool{}
	for _, e := range catalog.Entries() {
		key := e.Kind + " " + e.Name
		if seen[key] || e.Name == "" || e.Source == "" || e.Summary == "" {
			t.Errorf("%s: twice, or incomplete: %+v", key, e)
		}
		seen[key] = true
		if e.Kind == "preset" && !(slices.Contains(catalog.Names("scaler"), e.Scaler) && slices.Contains(catalog.Names("evictor"), e.Evictor)) {
			t.Errorf("%s combines unknown parts", key)
		}
		if !slices.Contains([]string{"A", "B", "C", "A/C", "B/C"}, e.Confidence) {
			t.Errorf("%s: confidence %q", key, e.Confidence)
		}
		for _, p := range e.Params {
			if p.Name == "" || p.Unit == "" || p.Default == "" || p.Range == "" || p.Meaning == "" {
				t.Errorf("%s: parameter %+v lacks something", key, p)
			}
		}
	}
}

func TestCapabilities(t *testing.T) {
	want := map[string][]string{
		"rainbowcake": {"layers"}, "codecrunch": {"compress"},
		"offline": {"oracle"}, "offline-bss": {"oracle"}, "cidre": nil,
	}
	for name, caps := range want {
		if e, _ := catalog.Find(name); !slices.Equal(e.Caps, caps) {
			t.Errorf("%s needs %v, want %v", name, e.Caps, caps)
		}
	}
}

func TestErrors(t *testing.T) {
	values := func(kv ...string) catalog.Params {
		m := map[string]string{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i]] = kv[i+1]
		}
		return catalog.Params{Values: m}
	}
	cases := []struct {
		name, scaler, evictor string
		p                     catalog.Params
		want                  string
	}{
		{"cidr", "", "", catalog.Params{}, `unknown preset "cidr", did you mean "cidre"?`},
		{"", "colstart", "", catalog.Params{}, `unknown scaler "colstart", did you mean "coldstart"?`},
		{"", "", "faascash", catalog.Params{}, `unknown evictor "faascash", did you mean "faascache"?`},
		{"", "", "zzzzzz", catalog.Params{}, `unknown evictor "zzzzzz"; known: cip, `},
		{"ttl", "", "", values("windov", "1m"), `unknown parameter "windov"; known: ttl, ttl-from`},
		{"cidre", "", "", values("windov", "1m"), `unknown parameter "windov", did you mean "window"?`},
		{"bss", "bss", "lru", values("x", "1"), `unknown parameter "x"; known: none`},
		{"ttl", "", "", values("ttl", "ten"), `parameter ttl: "ten" is not a duration, for instance 90s or 10m`},
		{"ttl", "", "", values("ttl", "-1s"), `make policy ttl: make ttl: the keep-alive must be longer than 0`},
		{"cidre", "", "", values("td", "hed-age"), `unknown td "hed-age", did you mean "head-age"?`},
		{"cidre+", "", "", values("theta", "NaN"), `parameter theta: "NaN" is not a finite number`},
		{"cip", "", "", values("cold-per-mb", "0s"), `parameter cold-per-mb: "0s" is not a duration above 0`},
		{"queue-length", "", "", values("L", "-1"), `parameter L: "-1" is not a whole number from 0, or inf`},
		{"offline", "", "", catalog.Params{}, "they run in the simulator only"},
		{"rainbowcake", "", "", values("q", "1"), "q must be between 0 and 1"},
	}
	for _, c := range cases {
		_, err := catalog.New(c.name, c.scaler, c.evictor, c.p)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s %s %v: got %v, want %s", c.name, c.scaler, c.evictor, c.p.Values, err, c.want)
		}
	}
	var unknown *catalog.UnknownError
	if _, err := catalog.New("lru", "", "", values("ttl", "1s")); !errors.As(err, &unknown) || unknown.Kind != "parameter" {
		t.Errorf("a parameter of another policy: got %v", err)
	}
}

func TestFieldsAreForWhoeverHasThem(t *testing.T) {
	p := catalog.Params{Window: time.Minute, TD: "completed", TTL: time.Second, TTLFrom: "lifespan", Clock: "inflated", ColdPerMB: time.Millisecond}
	for _, name := range []string{"lru", "ttl", "cidre", "cip", "flame"} {
		if _, err := catalog.New(name, "", "", p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	byField, _ := catalog.New("ttl", "", "", catalog.Params{TTL: time.Minute})
	byValue, _ := catalog.New("ttl", "", "", catalog.Params{TTL: time.Hour, Values: map[string]string{"ttl": "1m"}})
	if !reflect.DeepEqual(byField, byValue) {
		t.Error("Values does not win over the field")
	}
}

func TestEveryPolicyIsFresh(t *testing.T) {
	for _, name := range catalog.Names("evictor") {
		a, _ := catalog.New("", "coldstart", name, catalog.Params{Oracle: blind{}})
		b, _ := catalog.New("", "coldstart", name, catalog.Params{Oracle: blind{}})
		if reflect.ValueOf(a.Evictor).Pointer() == reflect.ValueOf(b.Evictor).Pointer() {
			t.Errorf("%s: two policies are one", name)
		}
	}
}
