package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"

	"github.com/open-lambda/open-lambda/src/api"
	"github.com/open-lambda/open-lambda/src/config"
)

// bootID is the same for everybody on a machine until it is started anew.
const bootID = "/proc/sys/kernel/random/boot_id"

// setupOf is what a worker tells bosses of itself.
func setupOf(cfg config.Config) (*api.Setup, error) {
	machine, err := os.ReadFile(bootID)
	if err != nil {
		return nil, fmt.Errorf("identify machine: %w", err)
	}
	policy, err := json.Marshal(cfg.Policy)
	if err != nil {
		return nil, fmt.Errorf("describe policy: %w", err)
	}
	return &api.Setup{Machine: string(bytes.TrimSpace(machine)), Cores: runtime.NumCPU(), StartSlots: slotsOf(cfg), Policy: policy}, nil
}

// learn takes over what the workers of a cluster say of themselves. If one says
// nothing, what was assumed stays, and how many cores there are is not known.
func (t *replayTarget) learn(nodes []api.NodeState) error {
	var policies []config.Policy
	slots := 0
	cores := map[string]int{} // by machine
	for _, n := range nodes {
		if n.Setup == nil {
			return nil
		}
		var p config.Policy
		if err := json.Unmarshal(n.Setup.Policy, &p); err != nil {
			return fmt.Errorf("understand the policy of worker %s: %w", n.Name, err)
		}
		policies = append(policies, p)
		cores[n.Setup.Machine] = max(cores[n.Setup.Machine], n.Setup.Cores)
		if slots == 0 || n.Setup.StartSlots < slots {
			slots = n.Setup.StartSlots
		}
	}
	t.startSlots = slots
	for _, n := range cores {
		t.cores += n
	}
	if _, err := makePolicy(policies[0]); err != nil { // theirs, or newer
		t.unknown = err
		return nil
	}
	t.told, t.policy = true, policies[0]
	for _, p := range policies {
		t.mixed = t.mixed || p != policies[0]
	}
	return nil
}

// policyAt is the policy of the workers when time is scaled: as it is, unless
// nobody says what it is. Then it is taken for scaled.
func (t *replayTarget) policyAt(scale float64) config.Policy {
	if t.guessed {
		return scaledPolicy(t.policy, scale)
	}
	return t.policy
}

// warn says what a prediction, and a replay in scaled time, takes for granted.
func (t *replayTarget) warn(s streams, scale float64, scaled bool) {
	if t.unknown != nil {
		s.say("warning: this program does not know the policy of the workers (%v): the prediction is of %s (--policy)", t.unknown, t.policy.Preset)
	} else if t.guessed {
		s.say("warning: the workers do not say how they are set up: the prediction is of the policy %s (--policy), and whether their processors can carry the replay was not checked", t.policy.Preset)
	}
	if t.mixed {
		s.say("warning: the workers run different policies: the prediction is of one of them, %s", t.policy.Preset)
	}
	plain := config.New("/", 0).Policy
	if scaled || scale == 1 || t.policy.TTLSec != plain.TTLSec || t.policy.WindowSec != plain.WindowSec {
		return
	}
	known := ""
	if t.guessed {
		known = ", as far as is known,"
	}
	s.say("warning: time is scaled, and the workers' keep-alive and window%s are not: start them with -o %s", known, scaledOptions(scale))
}

// scaledOptions are the options of a worker whose constants are scaled as time is.
func scaledOptions(scale float64) string {
	p := scaledPolicy(config.New("/", 0).Policy, scale)
	return fmt.Sprintf("policy.ttl_sec=%d,policy.window_sec=%d", p.TTLSec, p.WindowSec)
}

// replayWorkers says what a replay was sent to.
type replayWorkers struct {
	Policy     config.Policy `json:"policy"`
	Assumed    bool          `json:"assumed,omitempty"` // the workers do not say what they run
	Mixed      bool          `json:"mixed,omitempty"`   // they do not all run it
	PoolMB     int64         `json:"pool_mb"`           // of each, the least
	StartSlots int           `json:"start_slots"`       // of each, the least; 0: no limit
	Cores      int           `json:"cores"`             // of all machines together; 0: not known
	Placer     string        `json:"placer,omitempty"`
	Names      []string      `json:"names,omitempty"` // of a cluster
}

func (t *replayTarget) describe(scale float64) replayWorkers {
	return replayWorkers{t.policyAt(scale), t.guessed, t.mixed, t.poolMB, t.startSlots, t.cores, t.placer, t.workers}
}

// sentence says the same to people.
func (w *replayWorkers) sentence() string {
	policy := "policy " + w.Policy.Preset
	if w.Policy.Scaler != "" || w.Policy.Evictor != "" {
		policy += fmt.Sprintf(" (scaler %q, evictor %q)", w.Policy.Scaler, w.Policy.Evictor)
	}
	text := fmt.Sprintf("%s, keep-alive %d s, window %d s, pool %d MB", policy, w.Policy.TTLSec, w.Policy.WindowSec, w.PoolMB)
	if w.Placer != "" {
		text = fmt.Sprintf("%s each, placer %s over %s", text, w.Placer, plural(len(w.Names), "worker", "workers"))
	}
	switch {
	case w.Assumed:
		text += "; the policy is assumed, the workers do not say"
	case w.Mixed:
		text += "; not all workers run this policy"
	}
	return text
}
