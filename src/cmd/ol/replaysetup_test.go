package main

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/replay"
)

// aWorker is one that says how it is set up.
func aWorker(t *testing.T, name, machine string, cores int, change func(*config.Config)) api.NodeState {
	t.Helper()
	cfg := config.New("/", 2000)
	change(&cfg)
	setup, err := setupOf(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if setup.Machine == "" || setup.Cores < 1 || setup.StartSlots < 1 {
		t.Errorf("%+v", setup)
	}
	setup.Machine, setup.Cores = machine, cores
	return api.NodeState{Name: name, State: "up", PoolMB: 1000, Setup: setup}
}

// asBossOf is the target that a boss with these workers is.
func asBossOf(t *testing.T, nodes ...api.NodeState) *replayTarget {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any = api.BossStatus{Placer: "hash"}
		if r.URL.Path == api.PathNodes {
			answer = nodes
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	b, err := newBossClient(server.URL, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	assumed := config.New("/", 0).Policy
	assumed.Preset = "lru"
	target, err := bossTarget(t.Context(), b, assumed)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// A cluster is predicted as its workers are set up, and held against the
// processors that they have.
func TestClusterSaysWhatItIs(t *testing.T) {
	cidre := func(c *config.Config) {
		c.Policy.Preset, c.Policy.TTLSec, c.Policy.WindowSec, c.StartSlots = "cidre", 1200, 1800, 7
	}
	lru := func(c *config.Config) { c.Policy.Preset, c.StartSlots = "lru", 3 }
	silent := api.NodeState{Name: "old", State: "up", PoolMB: 1000}
	lost := api.NodeState{Name: "lost", State: "lost"}
	tests := map[string]struct {
		nodes       []api.NodeState
		told, mixed bool
		preset      string
		ttl, cores  int
		slots       int
	}{
		"one machine":      {[]api.NodeState{aWorker(t, "a", "x", 4, cidre), aWorker(t, "b", "x", 4, cidre), lost}, true, false, "cidre", 1200, 4, 7},
		"two machines":     {[]api.NodeState{aWorker(t, "a", "x", 4, cidre), aWorker(t, "b", "y", 8, cidre)}, true, false, "cidre", 1200, 12, 7},
		"different":        {[]api.NodeState{aWorker(t, "a", "x", 4, cidre), aWorker(t, "b", "y", 4, lru)}, true, true, "cidre", 1200, 8, 3},
		"one that is mute": {[]api.NodeState{aWorker(t, "a", "x", 4, cidre), silent}, false, false, "lru", 600, 0, slotsOf(config.Config{})},
	}
	for name, tt := range tests {
		got := asBossOf(t, tt.nodes...)
		if got.told != tt.told || got.mixed != tt.mixed || got.policy.Preset != tt.preset || got.policy.TTLSec != tt.ttl || got.cores != tt.cores || got.startSlots != tt.slots {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A policy that nobody knows is assumed to be scaled as time is; one that is
// known is what it is.
func TestClusterOfAnUnknownPolicy(t *testing.T) {
	target := asBossOf(t, aWorker(t, "a", "m1", 4, func(c *config.Config) { c.Policy.Preset = "ours" }))
	if target.told || target.unknown == nil || target.policy.Preset != "lru" || target.cores != 4 {
		t.Errorf("%+v", target)
	}
	if _, err := target.node(replayMachine{}, 1); err != nil {
		t.Error(err)
	}
}

func TestPolicyInScaledTime(t *testing.T) {
	for guessed, want := range map[bool]int{true: 2400, false: 600} {
		target := &replayTarget{guessed: guessed, policy: config.New("/", 0).Policy}
		if got := target.policyAt(4); got.TTLSec != want {
			t.Errorf("guessed %v: keep-alive %d s, want %d", guessed, got.TTLSec, want)
		}
	}
}

// What time must be scaled with is said to those who have not done so.
func TestWarningOfScaledTime(t *testing.T) {
	plain, scaled := config.New("/", 0).Policy, scaledPolicy(config.New("/", 0).Policy, 4)
	tests := map[string]struct {
		target replayTarget
		scale  float64
		want   string // "": none
	}{
		"real time":      {replayTarget{policy: plain}, 1, ""},
		"scaled":         {replayTarget{policy: scaled, told: true}, 4, ""},
		"not scaled":     {replayTarget{policy: plain, told: true}, 4, "the workers' keep-alive and window are not: start them with -o policy.ttl_sec=2400,policy.window_sec=3600"},
		"nobody knows":   {replayTarget{policy: plain, guessed: true}, 4, "window, as far as is known, are not"},
		"not alike":      {replayTarget{policy: plain, mixed: true}, 1, "the workers run different policies"},
		"nobody says so": {replayTarget{policy: plain, guessed: true}, 1, "whether their processors can carry the replay was not checked"},
	}
	for name, tt := range tests {
		var said strings.Builder
		tt.target.warn(streams{err: &said}, tt.scale, false)
		if tt.want == "" && said.Len() > 0 || !strings.Contains(said.String(), tt.want) {
			t.Errorf("%s: %q", name, said.String())
		}
	}
}

// Only processors that are known of can be too few.
func TestCheckOfProcessors(t *testing.T) {
	p := oneBurst(100, 0)
	p.stretch(1)
	predicted := replay.Prediction{Span: 50 * time.Second, Requests: 100}
	for cores, fits := range map[int]bool{2: false, 64: true, 0: true} {
		err := p.check(predicted, &replayTarget{cores: cores}, replayMachine{ColdPerSec: math.MaxInt32})
		if (err == nil) != fits {
			t.Errorf("%d cores: %v", cores, err)
		}
	}
}

// replay.json says with which flags it was made.
func TestReplaySaysWhatWasAsked(t *testing.T) {
	var asked map[string]any
	app := newApp(streams{out: &strings.Builder{}, err: &strings.Builder{}})
	for _, cmd := range app.Commands {
		if cmd.Name == "replay" {
			cmd.Action = func(c *cli.Context) error {
				asked = askedFor(c)
				return nil
			}
		}
	}
	if err := app.Run(strings.Fields("ol replay --trace s2 --functions 7 --duration 90s --exec busy --lambda echo")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"trace": "s2", "functions": 7, "duration": "1m30s", "exec": "busy", "lambda": "echo", "seed": uint64(1), "init": "busy",
		"connections": 0, "timeout": "1m0s", "first-minute": 1, "scale": 1.0,
	} {
		if asked[name] != want {
			t.Errorf("%s is %v, want %v", name, asked[name], want)
		}
	}
}
