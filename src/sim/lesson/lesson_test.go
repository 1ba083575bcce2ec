package lesson

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every number of the published tables, to the digit.
func TestTablesAreAsPublished(t *testing.T) {
	text, err := os.ReadFile("testdata/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	tables, err := Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err = json.Marshal(tables)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"profiles", "lifetime_scan", "mitigation"} {
		if diff := cmp.Diff(without(want[part]), without(got[part])); diff != "" {
			t.Errorf("%s: -published +ours\n%s", part, diff)
		}
	}
}

// without drops what is null: published with and without it.
func without(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = without(v[i])
		}
	case map[string]any:
		for k, x := range v {
			if v[k] = without(x); x == nil {
				delete(v, k)
			}
		}
	}
	return v
}

func TestGenerator(t *testing.T) {
	// By hand: 1 -> 1<<13 ^ 1 = 8193; >>17 is 0; 8193 ^ 8193<<5 = 270369.
	x := xorshift(1)
	if got, want := x.next(), 270369.0/(1<<32); got != want {
		t.Errorf("first number of seed 1 is %v, want %v", got, want)
	}
}
