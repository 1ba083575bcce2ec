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
	return &replayTarget{policy: demoPolicy("cidre", 1), poolMB: 100_000, startSlots: 4, cores: 2}
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

// A lambda costs what the trace says of its function, the spread of its starts
// included.
func TestLambdaCost(t *testing.T) {
	l := replay.FromTrace([]trace.Profile{{MB: 160, Cold: 100 * time.Millisecond, ColdSigma: 0.341}}, nil, "f", 2).Lambdas[0]
	text, err := lambdaCost{builtin: "init", idle: true, hold: 0.1}.config(l)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`OL_INIT_MS: "200.0"`, `OL_INIT_SIGMA: "0.341"`, `OL_INIT_IDLE: "1"`, `OL_HOLD_MB: "16"`, "mem_mb: 160"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("lacks %s:\n%s", want, text)
		}
	}
}

// counted is a workload that counts what is read of it: a request every second,
// without end.
func counted(read *int) trace.Workload {
	return trace.Workload{Open: func() (trace.Stream, error) { return &endless{read: read}, nil }}
}

type endless struct{ read *int }

func (e *endless) Next(out *trace.Invocation) (bool, error) {
	*out = trace.Invocation{At: time.Duration(*e.read) * time.Second}
	*e.read++
	return true, nil
}

func (e *endless) Functions() []trace.Profile { return []trace.Profile{{MB: 50}} }
func (e *endless) Close() error               { return nil }

// Nothing of a trace is kept in memory that cannot be replayed.
func TestCollectStopsAtDuration(t *testing.T) {
	for scale, want := range map[float64]int{1: 60, 2: 30, 0.5: 120} {
		read := 0
		p := replayPlan{scale: scale, duration: time.Minute}
		if err := p.collect(counted(&read)); err != nil {
			t.Fatal(err)
		}
		if len(p.workload.Requests) != want || read > want+2 || len(p.invocations) > want+1 {
			t.Errorf("scale %v: %d requests of %d read and %d kept, want %d", scale, len(p.workload.Requests), read, len(p.invocations), want)
		}
	}
}
