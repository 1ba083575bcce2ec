package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// tree is a configuration as nested JSON objects. The defaults stay beside
// the values: they say which keys exist and of what type they are.
type tree struct {
	defaults map[string]any
	values   map[string]any
}

// policyKey is the one group that can be set as a whole by a text, the name of
// a preset.
const policyKey = "policy"

// freeform are keys whose value is an object with keys that are not ours.
func freeform(key string) bool { return key == "sandbox_config" || key == "kafka" }

func newTree(c any) (*tree, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode config: %w", err)
	}
	d, err := decodeObject(b)
	if err != nil {
		return nil, fmt.Errorf("decode config: %w", err)
	}
	v, err := decodeObject(b)
	if err != nil {
		return nil, fmt.Errorf("decode config: %w", err)
	}
	return &tree{defaults: d, values: v}, nil
}

func (t *tree) config() (Config, error) {
	var c Config
	err := t.into(&c)
	return c, err
}

// into decodes the values.
func (t *tree) into(v any) error {
	b, err := json.Marshal(t.values)
	if err != nil {
		return fmt.Errorf("encode config: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("decode config: %w", err)
	}
	return nil
}

// keys lists the keys of leaves, sorted.
func (t *tree) keys() []string {
	var out []string
	var walk func(prefix string, m map[string]any)
	walk = func(prefix string, m map[string]any) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			key := join(prefix, k)
			sub, ok := m[k].(map[string]any)
			if ok && !freeform(key) {
				walk(key, sub)
				continue
			}
			out = append(out, key)
		}
	}
	walk("", t.defaults)
	return out
}

func join(prefix, k string) string {
	if prefix == "" {
		return k
	}
	return prefix + "." + k
}

// lookup finds the default of a key.
func (t *tree) lookup(key string) (any, bool) {
	var cur any = t.defaults
	for part := range strings.SplitSeq(key, ".") {
		m, ok := cur.(map[string]any)
		if !ok {
			return nil, false
		}
		if cur, ok = m[part]; !ok {
			return nil, false
		}
	}
	return cur, true
}

// overlay puts src, the object at prefix, over dst.
func (t *tree) overlay(prefix string, dst, src map[string]any) error {
	for _, k := range slices.Sorted(maps.Keys(src)) {
		key := join(prefix, k)
		def, ok := t.lookup(key)
		if !ok {
			return unknownKey(key, append(t.keys(), policyKey))
		}
		sub, isObject := src[k].(map[string]any)
		if _, nested := def.(map[string]any); nested && isObject && !freeform(key) {
			if err := t.overlay(key, dst[k].(map[string]any), sub); err != nil {
				return err
			}
			continue
		}
		v, err := t.convert(key, def, src[k])
		if err != nil {
			return err
		}
		dst[k] = v
	}
	return nil
}

// convert checks that v can stand for a default and returns what to store.
func (t *tree) convert(key string, def, v any) (any, error) {
	switch d := def.(type) {
	case map[string]any:
		return t.convertObject(key, d, v)
	case bool:
		if b, ok := v.(bool); ok {
			return b, nil
		}
		return nil, badType(key, "true or false", v)
	case json.Number:
		if n, ok := v.(json.Number); ok {
			if _, err := strconv.Atoi(n.String()); err == nil {
				return n, nil
			}
		}
		return nil, badType(key, "a whole number", v)
	case string:
		return convertString(key, v)
	}
	return nil, badType(key, "another type", v)
}

func (t *tree) convertObject(key string, def map[string]any, v any) (any, error) {
	if m, ok := v.(map[string]any); ok {
		return m, nil
	}
	if v == nil && freeform(key) {
		return map[string]any{}, nil
	}
	if s, ok := v.(string); ok && key == policyKey {
		// A preset's name stands for the whole object: nothing of a weaker
		// source's policy remains.
		p := maps.Clone(def)
		p["preset"] = s
		return p, nil
	}
	return nil, badType(key, "an object", v)
}

// convertString also takes a number where OpenLambda writes a string
// (worker_port) and inline JSON for the zygote tree.
func convertString(key string, v any) (any, error) {
	switch x := v.(type) {
	case string:
		return x, nil
	case json.Number:
		return x.String(), nil
	case map[string]any, []any:
		if key == "import_cache_tree" {
			b, err := json.Marshal(x)
			return string(b), err
		}
	}
	return nil, badType(key, "a text", v)
}

// setText sets a key from text, whose type follows the default.
func (t *tree) setText(key, text string) error {
	def, ok := t.lookup(key)
	if !ok {
		return unknownKey(key, append(t.keys(), policyKey))
	}
	v, err := parseText(key, def, text)
	if err != nil {
		return err
	}
	parts := strings.Split(key, ".")
	nested := v
	for _, p := range slices.Backward(parts) {
		nested = map[string]any{p: nested}
	}
	return t.overlay("", t.values, nested.(map[string]any))
}

func parseText(key string, def any, text string) (any, error) {
	switch def.(type) {
	case bool:
		if b, err := strconv.ParseBool(text); err == nil {
			return b, nil
		}
		return text, nil // convert says what is wrong
	case json.Number:
		return json.Number(text), nil
	case map[string]any:
		if !strings.HasPrefix(strings.TrimSpace(text), "{") {
			return text, nil
		}
		m, err := decodeObject([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("config key %q: parse object: %w", key, err)
		}
		return m, nil
	}
	return text, nil
}

func badType(key, want string, got any) error {
	return fmt.Errorf("config key %q is %v: it must be %s", key, got, want)
}
