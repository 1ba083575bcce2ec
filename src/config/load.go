package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Sources says where values come from, besides the defaults.
type Sources struct {
	File      string   // path of config.json; "" or a missing file: defaults only
	Env       []string // NAME=value pairs, os.Environ() for instance
	Overrides string   // the argument of -o, "a=1,b.c=x"
}

// Load overlays the sources on the defaults and validates the result. An
// error names the source, the key and what to type instead.
func Load(defaults Config, src Sources) (Config, error) {
	t, err := newTree(defaults)
	if err != nil {
		return Config{}, err
	}
	if err := t.overlayAll(src); err != nil {
		return Config{}, err
	}
	c, err := t.config()
	if err != nil {
		return Config{}, err
	}
	return c, c.Validate()
}

// overlayAll takes the sources in the order of their precedence.
func (t *tree) overlayAll(src Sources) error {
	if err := t.overlayFile(src.File); err != nil {
		return err
	}
	if err := t.overlayEnv(src.Env); err != nil {
		return err
	}
	return t.overlayFlags(src.Overrides)
}

func (t *tree) overlayFile(path string) error {
	if path == "" {
		return nil
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read config: %w", err)
	}
	m, err := decodeObject(b)
	if err != nil {
		return fmt.Errorf("parse %s: %w", path, err)
	}
	if err := t.overlay("", t.values, m); err != nil {
		return fmt.Errorf("load %s: %w", path, err)
	}
	return nil
}

// overlayEnv takes OL_LIMITS_MEM_MB for limits.mem_mb. Variables that match
// no key are not ours to judge: lambdas and tools have OL_ names as well. The
// order of the environment means nothing: OL_POLICY, which replaces the whole
// policy, comes before the variables of its parts.
func (t *tree) overlayEnv(env []string) error {
	values := map[string]string{}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		values[name] = value
	}
	for _, key := range append([]string{policyKey}, t.keys()...) {
		name := EnvName(key)
		value, ok := values[name]
		if !ok {
			continue
		}
		if err := t.setText(key, value); err != nil {
			return fmt.Errorf("environment variable %s: %w", name, err)
		}
	}
	return nil
}

func (t *tree) overlayFlags(s string) error {
	pairs, err := splitOverrides(s)
	if err != nil {
		return fmt.Errorf("option -o: %w", err)
	}
	for _, p := range pairs {
		if err := t.setText(p[0], p[1]); err != nil {
			return fmt.Errorf("option -o: %w", err)
		}
	}
	return nil
}

// EnvName returns the environment variable that sets a key.
func EnvName(key string) string {
	return "OL_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// Save writes the configuration to path, by way of a temporary file.
func (c Config) Save(path string) error {
	b, err := c.JSON()
	if err != nil {
		return fmt.Errorf("save config: %w", err)
	}
	return save(path, b)
}

func save(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".config-*")
	if err != nil {
		return fmt.Errorf("save config: %w", err)
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("save config: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// decodeObject decodes one JSON object and refuses anything behind it.
func decodeObject(b []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		return nil, describeJSON(b, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more text after the object: config.json holds one JSON object")
	}
	return m, nil
}

// describeJSON adds the line of a syntax error.
func describeJSON(b []byte, err error) error {
	var se *json.SyntaxError
	if !errors.As(err, &se) {
		return err
	}
	line := 1 + bytes.Count(b[:min(int(se.Offset), len(b))], []byte("\n"))
	return fmt.Errorf("line %d: %w", line, err)
}
