package main

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Checks of answers that are not one text.

func between(least, most int) func(*testing.T, reply) {
	return func(t *testing.T, a reply) {
		t.Helper()
		n, err := strconv.Atoi(a.body)
		if err != nil || n < least || n > most {
			t.Errorf("%v is not between %d and %d", a, least, most)
		}
	}
}

func headerIs(name string, values ...string) func(*testing.T, reply) {
	return func(t *testing.T, a reply) {
		t.Helper()
		if got := a.header.Values(name); !slices.Equal(got, values) {
			t.Errorf("header %s is %q, want %q", name, got, values)
		}
	}
}

// jsonIs compares values, not texts.
func jsonIs(want string) func(*testing.T, reply) {
	return func(t *testing.T, a reply) {
		t.Helper()
		if d := cmp.Diff(decodeJSON(t, want), decodeJSON(t, a.body)); d != "" {
			t.Error(d)
		}
	}
}

func decodeJSON(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Errorf("read %q: %v", text, err)
	}
	return v
}

// field reads a key of a JSON object, or nil.
func field(t *testing.T, a reply, name string) any {
	t.Helper()
	object, _ := decodeJSON(t, a.body).(map[string]any)
	return object[name]
}

func contextTells(t *testing.T, a reply) {
	t.Helper()
	left, _ := field(t, a, "remaining_ms").(float64)
	if field(t, a, "function_name") != "context" || field(t, a, "memory_limit_mb") != 48.0 || left <= 0 || left > 20_000 ||
		field(t, a, "request_id") != a.header.Get("X-Ol-Request-Id") || field(t, a, "method") != "POST" {
		t.Errorf("context tells %v", a)
	}
}

func startsWith(prefix string) func(*testing.T, reply) {
	return func(t *testing.T, a reply) {
		t.Helper()
		if !strings.HasPrefix(a.body, prefix) {
			t.Errorf("%v does not begin with %q", a, prefix)
		}
	}
}
