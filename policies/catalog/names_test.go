package catalog_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies"
	"github.com/open-lambda/open-lambda/policies/catalog"
)

func TestEveryNameMakesAPolicy(t *testing.T) {
	for _, scaler := range catalog.Names("scaler") {
		for _, evictor := range catalog.Names("evictor") {
			p, err := catalog.New("", scaler, evictor, catalog.Params{Oracle: blind{}})
			if err != nil || p.Scaler == nil || p.Evictor == nil {
				t.Errorf("New(%q, %q) = %+v, %v", scaler, evictor, p, err)
			}
		}
	}
	for _, name := range catalog.Names("") {
		if p, err := catalog.New(name, "", "", catalog.Params{Oracle: blind{}}); err != nil || p.Name != name {
			t.Errorf("New(%q) is named %q, %v", name, p.Name, err)
		}
	}
}

func TestNames(t *testing.T) {
	tests := []struct {
		preset, scaler, evictor, want string
	}{
		{"", "", "", "cidre"},
		{"ttl", "", "", "ttl"},
		{"ttl", "coldstart", "ttl", "ttl"},
		{"ttl", "bss", "", "bss+ttl"},
		{"", "", "lru", "css+lru"},
	}
	for _, tt := range tests {
		p, err := catalog.New(tt.preset, tt.scaler, tt.evictor, catalog.Params{})
		if err != nil || p.Name != tt.want {
			t.Errorf("New(%q, %q, %q) is named %q, %v; want %q", tt.preset, tt.scaler, tt.evictor, p.Name, err, tt.want)
		}
	}
}

func TestUnknownNamesAreRefused(t *testing.T) {
	tests := []struct {
		what                    string
		preset, scaler, evictor string
		p                       catalog.Params
	}{
		{what: "preset", preset: "cidr"},
		{what: "scaler", scaler: "BSS"},
		{what: "evictor", evictor: "lruu"},
		{what: "td", p: catalog.Params{TD: "tail"}},
		{what: "clock", p: catalog.Params{Clock: "one"}},
		{what: "ttl-from", preset: "ttl", p: catalog.Params{TTLFrom: "birth"}},
	}
	for _, tt := range tests {
		_, err := catalog.New(tt.preset, tt.scaler, tt.evictor, tt.p)
		var unknown *catalog.UnknownError
		if !errors.As(err, &unknown) || unknown.Kind != tt.what || len(unknown.Known) < 2 {
			t.Errorf("%s: %v", tt.what, err)
			continue
		}
		if msg := err.Error(); !strings.Contains(msg, unknown.Name) || !strings.Contains(msg, unknown.Known[0]) {
			t.Errorf("%s: the error does not name it and what is known: %s", tt.what, msg)
		}
	}
}

func TestImpossibleValuesAreRefused(t *testing.T) {
	for _, p := range []catalog.Params{{Window: -1}, {ColdPerMB: -1}} {
		if _, err := catalog.New("cidre", "", "", p); err == nil {
			t.Errorf("New took %+v", p)
		}
	}
	if _, err := catalog.New("ttl", "", "", catalog.Params{TTL: -time.Second}); err == nil {
		t.Error("New took a negative keep-alive")
	}
}

func TestTwoEnginesShareNothing(t *testing.T) {
	a, errA := catalog.New("cidre", "", "", catalog.Params{})
	b, errB := catalog.New("cidre", "", "", catalog.Params{})
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if a.Scaler == b.Scaler || a.Evictor == b.Evictor {
		t.Error("two policies share a part")
	}
	if _, ok := a.Scaler.(policies.Observer); !ok {
		t.Error("css observes nothing")
	}
}
