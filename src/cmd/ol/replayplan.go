package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/replay"
	"github.com/open-lambda/open-lambda/src/sim/story"
	"github.com/open-lambda/open-lambda/src/trace"
)

// replayPlan is what is to be replayed, and how.
type replayPlan struct {
	name, note  string         // of the trace
	asked       map[string]any // by flags
	profiles    []trace.Profile
	invocations []trace.Invocation
	scale       float64
	chosen      bool // the user has chosen scale
	duration    time.Duration
	workload    replay.Workload

	cost        lambdaCost
	body        replay.Body
	connections int
	timeout     time.Duration
	giveUp      time.Duration
	keep, force bool
	perfetto    string // file for the timeline, "" writes none
	record      string // file for the events, "" writes none
	timeline    bool   // draw it
}

// replayNames is the form of the names of a replay's lambdas.
const replayNames = "replay-%03d"

// paperBurst is the name of the paper's Fig. 4 as a trace.
const paperBurst = "fig4"

// replayedTrace is the workload that the flags choose.
func replayedTrace(s streams, c *cli.Context) (trace.Workload, error) {
	if c.String("trace") == paperBurst {
		b := story.Burst()
		if err := ignored(c, burstDeaf(), paperBurst+" is the burst of the paper as it is, a few calls of one function", ""); err != nil {
			return trace.Workload{}, err
		}
		return trace.FromSlice(b.Title, 0, b.Functions, b.Calls), nil
	}
	t, err := chosenTrace(s, c)
	if err != nil {
		return trace.Workload{}, err
	}
	w, err := t.workload(t.o.Seed)
	if err != nil {
		return w, fail(codeUsage, "make workload", err, "")
	}
	return w, nil
}

// burstDeaf are the flags of traces that are not for paperBurst.
func burstDeaf() []string {
	var names []string
	for _, f := range traceFlags() {
		if name := f.Names()[0]; name != "trace" {
			names = append(names, name)
		}
	}
	return names
}

func planReplay(s streams, c *cli.Context) (replayPlan, error) {
	w, err := replayedTrace(s, c)
	if err != nil {
		return replayPlan{}, err
	}
	p := replayPlan{
		name: c.String("trace"), note: w.Note, asked: askedFor(c), scale: c.Float64("scale"), chosen: c.Float64("scale") != 0, duration: c.Duration("duration"),
		connections: c.Int("connections"), timeout: c.Duration("timeout"), giveUp: c.Duration("give-up"),
		keep: c.Bool("keep"), force: c.Bool("force"), perfetto: c.String("perfetto"), record: c.String("record"), timeline: c.Bool("timeline"),
	}
	if err := errors.Join(p.modes(c), p.drawings(s, c.Bool("json"))); err != nil {
		return p, err
	}
	if !p.chosen {
		p.scale = 1 // and more if need be
	}
	return p, p.collect(w)
}

// collect reads what may be replayed into memory, and makes the workload.
func (p *replayPlan) collect(w trace.Workload) error {
	end := time.Duration(math.MaxInt64)
	if last := float64(p.duration) / p.scale; last > 0 && last < math.MaxInt64/2 {
		end = time.Duration(last) + 1
	}
	var err error
	if p.profiles, p.invocations, err = trace.CollectUntil(w, end); err != nil {
		return simFailure("read trace", err)
	}
	if len(p.invocations) == 0 && p.duration == 0 {
		return usage("take another part of it: --first-minute, --minutes, --functions", "trace %s has no requests there", p.name)
	}
	p.stretch(p.scale)
	return p.some()
}

// some fails if stretching time has left nothing to be replayed.
func (p *replayPlan) some() error {
	if len(p.workload.Requests) > 0 {
		return nil
	}
	return usage("replay a longer part of it: --duration; or faster: --scale", "trace %s has no requests in its first %v at --scale %.4g", p.name, p.duration, p.scale)
}

// leastScale and mostScale bound what a user may ask for.
const leastScale, mostScale = 0.01, 1000

// modes reads the flags that are words and numbers with limits.
func (p *replayPlan) modes(c *cli.Context) error {
	switch {
	case !slices.Contains([]string{"sleep", "busy"}, c.String("exec")), !slices.Contains([]string{"sleep", "busy"}, c.String("init")):
		return usage("", "--exec and --init are sleep or busy")
	case p.chosen && !(p.scale >= leastScale && p.scale <= mostScale):
		return usage("1 is real time, 2 half as fast", "--scale must be from %g to %g, or 0, got %g", leastScale, float64(mostScale), p.scale)
	case p.connections < 0 || p.duration < 0 || p.timeout <= 0 || p.giveUp < 0:
		return usage("", "--connections, --duration and --give-up must not be negative, --timeout be more than 0")
	}
	p.cost = lambdaCost{builtin: "init", idle: c.String("init") == "sleep", hold: c.Float64("hold")}
	if c.String("exec") == "busy" {
		p.body = replay.Busy
	}
	if name := c.String("lambda"); name != "" && name != p.cost.builtin {
		return p.standIn(c, name)
	}
	return nil
}

// standIn lets a lambda of the test registry stand for every function.
func (p *replayPlan) standIn(c *cli.Context, name string) error {
	if _, err := packBuiltin(name, nil); err != nil {
		return fail(codeNotFound, "map functions to a lambda", err, "see them: ls test-registry")
	}
	p.cost = lambdaCost{builtin: name}
	deaf := []string{"init", "hold"}
	spends := p.cost.spends()
	if !slices.Contains(spends, c.String("exec")) {
		deaf = append(deaf, "exec")
	}
	if slices.Contains(spends, "busy") {
		p.body = replay.Busy
	}
	return ignored(c, deaf, "--lambda "+name+" starts and runs as it is written", "leave --lambda out, or take init, which does as it is told")
}

// drawings checks where the timeline goes, before anything is measured.
func (p *replayPlan) drawings(s streams, asJSON bool) error {
	if p.timeline && asJSON {
		return usage("write it to a file: --perfetto FILE", "--timeline draws for people, --json answers programs")
	}
	for _, f := range []struct{ path, hint string }{{p.perfetto, "--perfetto FILE"}, {p.record, "--record FILE"}} {
		if f.path == "" {
			continue
		}
		if _, err := os.Stat(filepath.Dir(s.abs(f.path))); err != nil {
			return fail(codeUsage, "write what sandboxes did", err, "choose another file: "+f.hint)
		}
	}
	return nil
}

// stretch makes the workload in scaled time.
func (p *replayPlan) stretch(scale float64) {
	p.scale = scale
	p.workload = replay.FromTrace(p.profiles, p.invocations, replayNames, scale)
	if p.duration > 0 {
		p.workload = p.workload.Until(p.duration)
	}
	p.ownTime()
}

// ownTime leaves out the times that whatever stands for the functions does not take.
func (p *replayPlan) ownTime() {
	if p.cost.builtin != "init" {
		for i := range p.workload.Lambdas {
			p.workload.Lambdas[i].Init, p.workload.Lambdas[i].InitSigma = 0, 0
		}
	}
	if p.cost.spends() != nil {
		return
	}
	for i := range p.workload.Lambdas {
		p.workload.Lambdas[i].Exec = 0
	}
	for i := range p.workload.Requests {
		p.workload.Requests[i].Exec = 0
	}
}

// fit refuses what would measure the machine and not the policy, or takes the
// least scale that fits if the user leaves the choice.
func (p *replayPlan) fit(ctx context.Context, s streams, t *replayTarget, m replayMachine) error {
	if !p.chosen {
		p.stretch(1)
	}
	for range fitRounds {
		if err := p.some(); err != nil {
			return err
		}
		predicted, err := p.predict(ctx, t, m)
		if err != nil {
			return err
		}
		err = p.check(predicted, t, m)
		var much *replay.TooMuch
		switch {
		case !errors.As(err, &much):
			return err
		case p.chosen && p.force:
			s.say("warning: %s", err)
			return nil
		case p.chosen:
			return fail(codeUnfit, "replay "+p.name, err, tooMuchHint(p, much))
		}
		scale := math.Ceil(11*p.scale*much.Factor) / 10
		if scale > mostScale {
			break
		}
		p.stretch(scale)
		s.say("all times are %.1f times as long, for this machine to keep up", p.scale)
	}
	return fail(codeUnfit, "replay "+p.name, errors.New("no scale was found that this machine can carry"),
		"take fewer functions: --functions; or choose a scale in spite of it: --scale 1 --force")
}

// fitRounds bounds the search for a scale: one is nearly always enough.
const fitRounds = 4

// predict runs the scheduler through the workload in virtual time.
func (p *replayPlan) predict(ctx context.Context, t *replayTarget, m replayMachine) (replay.Prediction, error) {
	n, err := t.node(m, p.scale)
	if err != nil {
		return replay.Prediction{}, err
	}
	predicted, err := replay.Predict(ctx, n, p.workload)
	if err != nil {
		return predicted, simFailure("predict replay", err)
	}
	return predicted, nil
}

// Processor time of a request, all processes with the replayer: estimates on
// the safe side, measured were 0.5 ms through a worker (docs/performance.md).
const (
	replayRequestCPU = time.Millisecond
	replayBossCPU    = 500 * time.Microsecond // what a boss adds
)

// check says whether the machines can carry the replay. Busy handlers are
// counted to the processor time of requests. Where it is not known how many
// processors there are, only the rate of starts is checked.
func (p *replayPlan) check(predicted replay.Prediction, t *replayTarget, m replayMachine) error {
	machine := demoMachine(m.ColdPerSec)
	machine.Cores = t.cores
	machine.RequestCPU = replayRequestCPU
	if t.placer != "" {
		machine.RequestCPU += replayBossCPU
	}
	if p.cost.idle || p.cost.builtin != "init" {
		machine.InitCPUShare = 0
	}
	if p.body == replay.Busy {
		machine.RequestCPU += p.workload.MeanExec()
	}
	return predicted.Check(machine)
}

func tooMuchHint(p *replayPlan, much *replay.TooMuch) string {
	fewer := max(1, int(float64(len(p.workload.Lambdas))/much.Factor/1.1))
	return fmt.Sprintf("slower: --scale %.1f; or fewer: --functions %d; or in spite of it: --force", math.Ceil(11*p.scale*much.Factor)/10, fewer)
}

// replayer is the one that the plan asks for.
func (p *replayPlan) replayer(t *replayTarget) *replay.Replayer {
	return &replay.Replayer{
		URL: t.url, Others: t.others, Client: t.client(p.timeout+p.workload.LongestExec(), p.connections), Header: t.header, Body: p.body, GiveUp: p.giveUp,
		Unbounded: p.body == replay.Busy || p.cost.spends() == nil,
	}
}

// scaledPolicy multiplies the constants of a policy.
func scaledPolicy(p config.Policy, scale float64) config.Policy {
	p.TTLSec = max(1, int(math.Round(float64(p.TTLSec)*scale)))
	p.WindowSec = max(1, int(math.Round(float64(p.WindowSec)*scale)))
	return p
}
