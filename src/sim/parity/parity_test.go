package parity

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/policies/faascache"
	"github.com/open-lambda/open-lambda/src/trace"
)

func TestInputIsExact(t *testing.T) {
	profiles, all, err := Input()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(Lines(profiles, all))
	if got, want := hex.EncodeToString(sum[:]), "9c1bd0adbc6179d03edd4ae94e5576a451990efd98b70e7c996dc9e3f673134e"; got != want {
		t.Errorf("sha256 of the input is %s, want %s", got, want)
	}
	var exec time.Duration
	var mb int64
	for _, c := range all {
		exec += c.Exec
		mb += profiles[c.Function].MB
	}
	if exec != 12_109_289*time.Millisecond || mb != 2_190_059 {
		t.Errorf("execution %v, memory %d MB", exec, mb)
	}
}

func TestCountsAreExact(t *testing.T) {
	rows, err := Compare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if !r.Exact() {
			t.Errorf("%s, %d MB: got %+v, want %+v", r.Order, r.PoolMB, r.Got, r.Want)
		}
	}
}

// The peer expires lazily: at the next call of the function, when its last use
// is more than 600 s ago, and only what is idle then.
func TestTTLExpiresAtTheNextCall(t *testing.T) {
	f := []trace.Profile{{Name: "f", MB: 10, Cold: time.Second}, {Name: "g", MB: 10, Cold: time.Second}}
	at := func(s float64, fn int) trace.Invocation {
		return trace.Invocation{At: time.Duration(s * float64(time.Second)), Function: fn, Exec: time.Second}
	}
	tests := map[string]struct {
		calls []trace.Invocation
		want  Count
	}{
		"exactly 600 s later is a hit": {[]trace.Invocation{at(0, 0), at(600, 0)}, Count{1, 1, 0}},
		"later is a miss":              {[]trace.Invocation{at(0, 0), at(600.001, 0)}, Count{0, 2, 0}},
		"each use renews":              {[]trace.Invocation{at(0, 0), at(500, 0), at(1000, 0)}, Count{2, 1, 0}},
		"a use renews all sandboxes":   {[]trace.Invocation{at(0, 0), at(0, 0), at(500, 0), at(1000, 0), at(1000, 0)}, Count{3, 2, 0}},
		"others do not":                {[]trace.Invocation{at(0, 0), at(500, 1), at(700, 0)}, Count{0, 3, 0}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Run(t.Context(), faascache.PeerTTL, 100, f, tt.calls)
			if err != nil || got != tt.want {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}

// Expired sandboxes that nobody calls still hold memory.
func TestTTLHoldsMemoryUntilTheNextCall(t *testing.T) {
	f := []trace.Profile{{Name: "f", MB: 60, Cold: time.Second}, {Name: "g", MB: 60, Cold: time.Second}}
	calls := []trace.Invocation{{At: 0, Function: 0, Exec: time.Second}, {At: 2000 * time.Second, Function: 1, Exec: time.Second}}
	got, err := Run(t.Context(), faascache.PeerTTL, 100, f, calls)
	if want := (Count{0, 2, 0}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}
