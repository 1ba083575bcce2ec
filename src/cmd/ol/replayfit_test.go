package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/open-lambda/open-lambda/src/replay"
	"github.com/open-lambda/open-lambda/src/trace"
)

// busyPlan is two functions that are called 50,000 times a second: too much for any machine.
func busyPlan() replayPlan {
	p := replayPlan{
		name: "busy", cost: lambdaCost{builtin: "init", idle: true},
		profiles: []trace.Profile{{Name: "a", MB: 50, Cold: 100 * time.Millisecond}, {Name: "b", MB: 50, Cold: 200 * time.Millisecond}},
	}
	for i := range 4000 {
		p.invocations = append(p.invocations, trace.Invocation{At: time.Duration(i) * 20 * time.Microsecond, Function: i % 2, Exec: 10 * time.Millisecond})
	}
	return p
}

// What takes its own time is asked for none: neither its slowdown nor the simulator
// counts an execution that never ran.
func TestStandInsTakeTheirOwnTime(t *testing.T) {
	const cold, exec = 100 * time.Millisecond, 10 * time.Millisecond
	for builtin, want := range map[string][2]time.Duration{
		"init": {cold, exec}, "sleep": {0, exec}, "spin": {0, exec}, "echo": {0, 0}, "hash": {0, 0},
	} {
		p := busyPlan()
		p.cost = lambdaCost{builtin: builtin}
		p.stretch(2)
		l, q := p.workload.Lambdas[0], p.workload.Requests[0]
		if l.Init != 2*want[0] || l.Exec != 2*want[1] || q.Exec != 2*want[1] {
			t.Errorf("%s: initialisation %v, execution %v, asked for %v", builtin, l.Init, l.Exec, q.Exec)
		}
	}
}

// The memory that a lambda fills is one thing, the time of its initialisation another.
func TestCostsAreIndependent(t *testing.T) {
	k := lambdaCost{builtin: "init", hold: 0.5, idle: true, imports: "csv"}
	l := replay.Lambda{MemMB: 100}
	if diff := cmp.Diff(map[string]string{"OL_HOLD_MB": "50"}, k.environment(l)); diff != "" {
		t.Errorf("no initialisation: %s", diff)
	}
	l.Init = 1500 * time.Microsecond
	want := map[string]string{"OL_HOLD_MB": "50", "OL_INIT_MS": "1.5", "OL_INIT_SIGMA": "0", "OL_INIT_IMPORTS": "csv", "OL_INIT_IDLE": "1"}
	if diff := cmp.Diff(want, k.environment(l)); diff != "" {
		t.Error(diff)
	}
	k.builtin = "echo"
	if got := k.environment(l); len(got) > 0 {
		t.Errorf("echo is told %v", got)
	}
}

// A scale that is left to the machine is looked for, and force changes nothing of that;
// one that was chosen stays.
func TestFitChoosesTheScale(t *testing.T) {
	target := &replayTarget{policy: demoPolicy("cidre", 1), poolMB: 1000, startSlots: 4, cores: 2}
	for name, c := range map[string]struct {
		chosen, force bool
		body          replay.Body // busy ones stay as busy however slow
		fits, refused bool
		says          string
	}{
		"left to it":              {false, false, replay.Sleep, true, false, "all times are"},
		"left to it, with force":  {false, true, replay.Sleep, true, false, "all times are"},
		"none is found":           {false, false, replay.Busy, false, true, ""},
		"none is found, by force": {false, true, replay.Busy, false, true, ""},
		"chosen":                  {true, false, replay.Sleep, false, true, ""},
		"chosen, with force":      {true, true, replay.Sleep, false, false, "would measure the machine"},
	} {
		t.Run(name, func(t *testing.T) {
			p := busyPlan()
			p.body = c.body
			p.chosen, p.force = c.chosen, c.force
			p.stretch(1)
			var talk strings.Builder
			machine := replayMachine{ColdPerSec: 1e6}
			err := p.fit(t.Context(), streams{err: &talk}, target, machine)
			if (err != nil) != c.refused || !strings.Contains(talk.String(), c.says) {
				t.Errorf("%v, told %q", err, talk.String())
			}
			predicted, perr := p.predict(t.Context(), target, machine)
			if perr != nil {
				t.Fatal(perr)
			}
			if fits := p.check(predicted, target, machine) == nil; fits != c.fits || c.chosen && p.scale != 1 {
				t.Errorf("scale %v fits: %v", p.scale, fits)
			}
		})
	}
}
