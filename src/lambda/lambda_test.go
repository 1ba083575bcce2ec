package lambda

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/open-lambda/open-lambda/src/config"
)

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"echo": true, "A.b-c_9": true, "...": true, ".": false, "..": false, "": false, "a/b": false,
		"a b": false, "é": false, "a\n": false, strings.Repeat("a", 200): true, strings.Repeat("a", 201): false,
	} {
		if got := ValidName(name); got != want {
			t.Errorf("%q: got %v", name, got)
		}
		if err := CheckName(name); (err == nil) != want {
			t.Errorf("%q: got %v", name, err)
		}
	}
}

func TestParse(t *testing.T) {
	c, warnings, err := Parse([]byte(`
triggers:
  http:
    - method: get
    - method: POST
  cron:
    - schedule: "* * * * *"
  kafka:
    - bootstrap_servers: [a:1, b:2]
      topics: [t]
      auto_offset_reset: latest
environment: {A: x, B: 3, C: true}
reuse-sandbox: true
limits: {mem_mb: 100, runtime_sec: 5}
concurrency: 4
handler: main
min_sandboxes: 1
max_sandboxes: 3
network: none
async: {attempts: 3, base_ms: 10, cap_ms: 20}
concurency: 2
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Triggers: Triggers{
			HTTP:  []HTTPTrigger{{"GET"}, {"POST"}},
			Cron:  []CronTrigger{{"* * * * *"}},
			Kafka: []KafkaTrigger{{[]string{"a:1", "b:2"}, []string{"t"}, "latest"}},
		},
		Environment:  map[string]string{"A": "x", "B": "3", "C": "true"},
		ReuseSandbox: true,
		Limits:       config.Limits{MemMB: 100, RuntimeSec: 5},
		Concurrency:  4, Handler: "main", MinSandboxes: 1, MaxSandboxes: 3, Network: "none",
		Async: Async{Attempts: 3, BaseMS: 10, CapMS: 20},
	}
	if d := cmp.Diff(want, c); d != "" {
		t.Error(d)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], `line 21: key "concurency"`) || !strings.Contains(warnings[0], `"concurrency"`) {
		t.Errorf("warnings %q", warnings)
	}
}

func TestParseErrors(t *testing.T) {
	for in, want := range map[string]string{
		"a: [":                                  "parse ol.yaml",
		"- a":                                   "must be a mapping",
		"limits: {mem_mb: lots}":                `"limits.mem_mb" must be a whole number`,
		"limits: {mem_mb: -4}":                  "0 or more",
		"limits: {mem_mb: 4}":                   "about 16 MB",
		"limits: {mem_mb: 2.5}":                 "whole number",
		"triggers: {http: {method: GET}}":       "must be a list",
		"triggers: {http: [{method: GRAB}]}":    `"GRAB" does not exist`,
		"triggers: {http: [{}]}":                `method "" does not exist`,
		"environment: [a]":                      "mapping",
		"environment: {a: {b: c}}":              `"environment.a" must be a text`,
		"reuse-sandbox: maybe":                  "true or false",
		"min_sandboxes: 3\nmax_sandboxes: 2":    "more than max_sandboxes",
		"reuse-sandbox: false\nconcurrency: 2":  "concurrency must be 1",
		"network: bridge":                       "use none, nat or host",
		"async: {attempts: 101}":                "at most 100",
		"limits: {runtime_sec: 10000000000}":    "limits.runtime_sec is 10000000000: it can be at most",
		"limits: {mem_mb: 9000000000000000}":    "limits.mem_mb",
		"limits: {cpu_percent: 99999999999999}": "limits.cpu_percent",
		"limits: {procs: 5000000}":              "limits.procs",
		"limits: {swappiness: 101}":             "limits.swappiness",
		"concurrency: 10001":                    "concurrency is",
		"min_sandboxes: 1000001":                "min_sandboxes is",
		"max_sandboxes: 1000001":                "max_sandboxes is",
		"async: {base_ms: 9223372036854775807}": "async.base_ms",
		"async: {cap_ms: 31536000001}":          "async.cap_ms",
		"async: {base_ms: 3, cap_ms: 2}":        "more than async.cap_ms",
		"triggers: {cron: [{schedule: '@x'}]}":  "triggers.cron: schedule",
		"triggers: {kafka: [{topics: [t]}]}":    "bootstrap_servers and topics are required",
		"triggers: {kafka: [{topics: [t], bootstrap_servers: [b], auto_offset_reset: middle}]}": "use earliest or latest",
		"environment: {OL_ENTRY_FILE: ../x}":                                                    "leaves the lambda",
		"environment: &a {x: *a}":                                                               `"environment.x" must be a text`,
		"triggers: {http: &a [*a]}":                                                             "must be a mapping",
	} {
		if _, _, err := Parse([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", in, err, want)
		}
	}
}

func TestMethods(t *testing.T) {
	for in, tt := range map[string]struct {
		get, head, put bool
		methods        []string
	}{
		"":                                  {true, true, true, nil},
		"triggers: {}":                      {true, true, true, nil},
		"triggers: {http: []}":              {false, false, false, []string{}},
		"triggers: {http: [{method: GET}]}": {true, true, false, []string{"GET"}},
		"triggers: {http: [{method: '*'}]}": {true, true, true, []string{"*"}},
		"triggers: {cron: [{schedule: '@daily'}]}": {true, true, true, nil},
		"# nothing":                             {true, true, true, nil},
		"triggers: {http: [{method: put}]}":     {false, false, true, []string{"PUT"}},
		"triggers: {http: [{method: connect}]}": {false, false, false, []string{"CONNECT"}},
	} {
		c, _, err := Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if c.Allows("GET") != tt.get || c.Allows("HEAD") != tt.head || c.Allows("PUT") != tt.put {
			t.Errorf("%q: GET %v HEAD %v PUT %v", in, c.Allows("GET"), c.Allows("HEAD"), c.Allows("PUT"))
		}
		if d := cmp.Diff(tt.methods, c.Methods()); d != "" {
			t.Errorf("%q: %s", in, d)
		}
	}
}

func TestJSONForm(t *testing.T) {
	c, _, err := Parse([]byte("triggers: {http: [{method: GET}]}"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"Triggers":{"HTTP":[{"Method":"GET"}],"Cron":null,"Kafka":null},"Environment":{},"ReuseSandbox":true}`
	if string(b) != want {
		t.Errorf("got %s", b)
	}
}

func TestEffective(t *testing.T) {
	w := config.New("/d", 4000)
	c := Default()
	got := c.Effective(&w)
	want := Effective{MemMB: 50, CPUPercent: 100, Procs: 10, Runtime: 30 * time.Second, Slots: 1}
	if got != want {
		t.Errorf("got %+v", got)
	}
	c.Limits.MemMB, c.Concurrency, c.Network, c.MaxSandboxes = 99, 3, "none", 2
	want.MemMB, want.Slots, want.Network, want.Max = 99, 3, "none", 2
	if got = c.Effective(&w); got != want {
		t.Errorf("got %+v", got)
	}
	c.ReuseSandbox = false
	if got = c.Effective(&w); !got.OneShot || got.Slots != 1 {
		t.Errorf("got %+v", got)
	}
}
