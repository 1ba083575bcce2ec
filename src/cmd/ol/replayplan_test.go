package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/open-lambda/open-lambda/src/replay"
	"github.com/open-lambda/open-lambda/src/trace"
)

// oneBurst is a plan of n requests at a moment, each of which keeps a processor
// busy for a second.
func oneBurst(n int, at time.Duration) replayPlan {
	p := replayPlan{name: "burst", cost: lambdaCost{builtin: "init", idle: true}, body: replay.Busy}
	p.profiles = []trace.Profile{{MB: 100, Cold: time.Millisecond}}
	for range n {
		p.invocations = append(p.invocations, trace.Invocation{At: at, Exec: time.Second})
	}
	return p
}

func someTarget() *replayTarget {
	return &replayTarget{policy: demoPolicy("cidre", 1), poolMB: 100_000, startSlots: 4}
}

// Stretching time for the machine's sake may leave nothing before --duration.
func TestFitStretchesEverythingAway(t *testing.T) {
	p := oneBurst(500, 900*time.Millisecond)
	p.duration = time.Second
	s := streams{out: &strings.Builder{}, err: &strings.Builder{}}
	err := p.fit(t.Context(), s, someTarget(), replayMachine{ColdPerSec: 1})
	var f *failure
	if !errors.As(err, &f) || f.code != codeUsage || !strings.Contains(err.Error(), "no requests in its first 1s") {
		t.Errorf("got %v", err)
	}
}
