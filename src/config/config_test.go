package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func base() Config { return New("/d", 4500) }

func TestDefaultsValid(t *testing.T) {
	c := base()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if c.MemPoolMB != 4000 || New("/d", 600).MemPoolMB != 500 {
		t.Errorf("mem_pool_mb: got %d", c.MemPoolMB)
	}
	got, err := Load(c, Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(c, got); d != "" {
		t.Errorf("loading nothing changes the defaults:\n%s", d)
	}
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json.overrides")
	want, err := Load(base(), Sources{Overrides: `limits.mem_mb=100,policy=lru,sandbox_config={"a": 1}`})
	if err != nil {
		t.Fatal(err)
	}
	if err := want.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(base(), Sources{File: path})
	if err != nil {
		t.Fatal(err)
	}
	if got.Limits.MemMB != 100 || got.Policy.Preset != "lru" || got.SandboxConfig["a"] != 1.0 {
		t.Errorf("got %+v", got)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".config-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestPrecedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	write(t, file, `{"limits": {"mem_mb": 60, "procs": 20}, "worker_port": 7000, "policy": {"preset": "css", "scaler": "bss"}}`)
	c, err := Load(base(), Sources{
		File:      file,
		Env:       []string{"OL_LIMITS_MEM_MB=70", "OL_QUEUE_LIMIT=5", "OL_ENTRY_FILE=x", "HOME=/"},
		Overrides: "limits.mem_mb=80,policy=ttl",
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Limits.MemMB != 80 || c.Limits.Procs != 20 || c.QueueLimit != 5 || c.WorkerPort != "7000" {
		t.Errorf("got %+v", c)
	}
	if c.Policy.Preset != "ttl" || c.Policy.Scaler != "" {
		t.Errorf("a preset by name replaces the whole policy: %+v", c.Policy)
	}
}

func TestFileErrors(t *testing.T) {
	for name, tt := range map[string]struct{ json, want string }{
		"unknown":        {`{"mem_pool": 1}`, `"mem_pool" does not exist: did you mean "mem_pool_mb"?`},
		"unknown nested": {`{"limits": {"memmb": 1}}`, `"limits.memmb" does not exist: did you mean "limits.mem_mb"?`},
		"unknown policy": {`{"policy": {"windowsec": 1}}`, `did you mean "policy.window_sec"?`},
		"type":           {`{"limits": {"mem_mb": "x"}}`, `"limits.mem_mb" is x: it must be a whole number`},
		"fraction":       {`{"limits": {"mem_mb": 1.5}}`, `must be a whole number`},
		"bool":           {`{"log_output": 1}`, `must be true or false`},
		"object":         {`{"limits": 3}`, `must be an object`},
		"syntax":         {"{\n\"limits\": }", `line 2`},
		"trailing":       {`{} {}`, `more text after the object`},
		"null":           {`{"limits": null}`, `must be an object`},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.json")
			write(t, file, tt.json)
			_, err := Load(base(), Sources{File: file})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestOverrides(t *testing.T) {
	for name, tt := range map[string]struct {
		in, want string
		got      func(Config) string
	}{
		"equals in value": {"pip_mirror=http://x/?a=b", "http://x/?a=b", func(c Config) string { return c.PipMirror }},
		"quoted comma":    {`pip_mirror="http://a,b",queue_limit=7`, "http://a,b", func(c Config) string { return c.PipMirror }},
		"inline tree":     {`import_cache_tree='{"packages": [], "children": []}'`, `{"packages": [], "children": []}`, func(c Config) string { return c.ImportCacheTree }},
		"port":            {"worker_port=0", "0", func(c Config) string { return c.WorkerPort }},
		"nested preset":   {"policy.preset=lru", "lru", func(c Config) string { return c.Policy.Preset }},
		"empty":           {"import_cache_tree=", "", func(c Config) string { return c.ImportCacheTree }},
		"trailing comma":  {"network=none,", "none", func(c Config) string { return c.Network }},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Load(base(), Sources{Overrides: tt.in})
			if err != nil {
				t.Fatal(err)
			}
			if got := tt.got(c); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for in, want := range map[string]string{
		"mem_mb=5":               `did you mean "limits.mem_mb"?`,
		"queue_limit":            "has no value",
		`pip_mirror="a`:          "never closed",
		"queue_limit=many":       `"queue_limit" is many`,
		"log_output=si":          "true or false",
		"policy.foo=1":           "policy.",
		"limits=3":               "must be an object",
		"sandbox_config={":       "parse object",
		"limits.mem_mb.x=3":      "does not exist",
		"limits.mem_mb=1,,x":     "has no value",
		"registry_cache_ms=1e99": "whole number",
	} {
		if _, err := Load(base(), Sources{Overrides: in}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", in, err, want)
		}
	}
}

func TestValidate(t *testing.T) {
	for in, key := range map[string]string{
		"sandbox=docker":             "sandbox",
		"sandbox=sok":                "sandbox",
		"mem_pool_mb=90":             "mem_pool_mb",
		"limits.mem_mb=0":            "limits.mem_mb",
		"limits.procs=0":             "limits.procs",
		"limits.runtime_sec=-1":      "limits.runtime_sec",
		"limits_max.procs=-1":        "limits_max.procs",
		"limits_max.runtime_sec=-1":  "limits_max.runtime_sec",
		"limits.swappiness=101":      "limits.swappiness",
		"worker_port=70000":          "worker_port",
		"worker_port=http":           "worker_port",
		"worker_dir=rel":             "worker_dir",
		"registry=ftp://x":           "registry",
		"network=bridge":             "network",
		"freeze_grace_ms=-2":         "freeze_grace_ms",
		"policy.td=x":                "policy.td",
		"policy.concurrency=0":       "policy.concurrency",
		"features.import_cache=true": "features.import_cache",
		"policy=":                    "policy.preset",
	} {
		_, err := Load(base(), Sources{Overrides: in})
		var inv *InvalidError
		if !errors.As(err, &inv) || inv.Key != key {
			t.Errorf("%s: got %v, want an error about %s", in, err, key)
		}
	}
}

func TestEnvNamesDistinct(t *testing.T) {
	tr, err := newTree(base())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, k := range append(tr.keys(), policyKey) {
		if other, ok := seen[EnvName(k)]; ok {
			t.Errorf("%s and %s share %s", k, other, EnvName(k))
		}
		seen[EnvName(k)] = k
	}
}

func TestInherit(t *testing.T) {
	got := Limits{MemMB: 250}.Inherit(Limits{Procs: 10, MemMB: 50, CPUPercent: 100, RuntimeSec: 30})
	if want := (Limits{Procs: 10, MemMB: 250, CPUPercent: 100, RuntimeSec: 30}); got != want {
		t.Errorf("got %+v", got)
	}
}

func TestMachineMB(t *testing.T) {
	if mb, err := MachineMB(); err != nil || mb < 16 {
		t.Errorf("got %d, %v", mb, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPresetFromEnvironment(t *testing.T) {
	// The parts come first here: the order of variables must not matter.
	c, err := Load(base(), Sources{Env: []string{"OL_POLICY_TTL_SEC=7", "OL_POLICY=ttl"}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Policy.Preset != "ttl" || c.Policy.TTLSec != 7 {
		t.Errorf("got %+v", c.Policy)
	}
	_, err = Load(base(), Sources{Overrides: "polcy=ttl"})
	if err == nil || !strings.Contains(err.Error(), `did you mean "policy"?`) {
		t.Errorf("a misspelt group: got %v", err)
	}
}
