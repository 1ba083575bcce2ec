package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/policies/placement"
	"github.com/open-lambda/open-lambda/src/bench"
	"github.com/open-lambda/open-lambda/src/config"
	"github.com/open-lambda/open-lambda/src/replay"
	"github.com/open-lambda/open-lambda/src/replay/validate"
)

// reproValidateCommand holds the simulator against real sandboxes.
func reproValidateCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "validate",
		Usage: "hold the simulator against real sandboxes (needs root)",
		Description: "Replays one workload on a worker of its own, or on a testbed, and through the\n" +
			"simulator, and compares shares of starts and overheads.\n\n" +
			"  ol repro validate --trace s1 --functions 60 --duration 1m --policies ttl,cidre\n" +
			"  ol repro validate --testbed --placers round-robin,hash,warm-first\n\n" +
			"Exit code 6 if a figure is outside its tolerance or an ordering does not hold.",
		Flags: append(append(traceFlags(), loadFlags("sleep")...),
			&cli.StringFlag{Name: "policies", Usage: "presets to compare", Value: "cidre"},
			&cli.BoolFlag{Name: "testbed", Usage: "replay through a boss to several workers, on hosts with addresses of their own"},
			&cli.IntFlag{Name: "nodes", Usage: "workers of the testbed", Value: 3},
			&cli.StringFlag{Name: "placers", Usage: "how the boss chooses workers, several to compare: " + strings.Join(placement.Names(), ", ") + ", or all", Value: "hash"},
			&cli.IntFlag{Name: "pool", Usage: "memory pool of each worker, `MB`; 0 takes half of what the workload would use"},
			jsonFlag(),
		),
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 0, "--testbed --placers all"); err != nil {
				return err
			}
			return reproValidate(s, c)
		},
	}
}

// validation is a comparison under way.
type validation struct {
	streams
	plan     replayPlan
	policies []string
	placers  []string // "" for a single worker
	nodes    int
	poolMB   int
	dir      string
	left     bool // machines could not be removed
}

// validationResult is validate.json, and the answer to --json.
type validationResult struct {
	Trace       string             `json:"trace"`
	Scale       float64            `json:"scale"`
	Requests    int                `json:"requests"`
	Lambdas     int                `json:"lambdas"`
	Nodes       int                `json:"nodes"`
	PoolMB      int                `json:"pool_mb"`
	Tolerance   validate.Tolerance `json:"tolerance"`
	Cases       []validate.Case    `json:"cases"`
	Claims      []validate.Claim   `json:"claims,omitempty"`
	Environment replayEnvironment  `json:"environment"`
}

func reproValidate(s streams, c *cli.Context) error {
	v, err := planValidation(s, c)
	if err != nil {
		return err
	}
	if err := errors.Join(requireRoot("validate"), requireFit(c.Context, "validate", true)); err != nil {
		return err
	}
	out, err := newOutputs(s, c.String("out"))
	if err != nil {
		return fail(codeUsage, "prepare results", err, "choose another directory: --out DIR")
	}
	defer out.abort()
	if v.dir, err = os.MkdirTemp("", "ol-validate-"); err != nil {
		return fmt.Errorf("make temporary directory: %w", err)
	}
	defer func() { v.clean() }()
	// The kernel ends workers with the thread that started them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	result, err := v.run(c.Context, out)
	if len(result.Cases) == 0 {
		return err
	}
	// What was measured is shown, whatever becomes of the files.
	if c.Bool("json") {
		err = errors.Join(err, s.printJSON(result))
	} else {
		printValidation(s, result)
	}
	if out.kept { // a file of requests could not be written whole
		return err
	}
	if failed := writeValidation(out, result); failed != nil {
		return errors.Join(err, out.failed(failed))
	}
	out.tell(s)
	if err != nil {
		return err
	}
	return judge(result)
}

// clean removes the directory, unless something in it is still needed to
// remove a testbed.
func (v *validation) clean() {
	if v.left {
		v.say("what is left of a testbed is described in %s", v.dir)
		return
	}
	_ = os.RemoveAll(v.dir) // a temporary directory
}

func planValidation(s streams, c *cli.Context) (*validation, error) {
	plan, err := planReplay(s, c)
	if err != nil {
		return nil, err
	}
	v := &validation{streams: s, plan: plan, nodes: c.Int("nodes"), poolMB: c.Int("pool"), placers: []string{""}}
	for name := range strings.SplitSeq(c.String("policies"), ",") {
		if _, err := makePolicy(demoPolicy(name, 1)); err != nil {
			return nil, err
		}
		v.policies = append(v.policies, name)
	}
	if twice(v.policies) {
		return nil, usage("", "--policies names one twice")
	}
	if !c.Bool("testbed") {
		v.nodes = 1
		return v, ignored(c, []string{"nodes", "placers"}, "there is one worker", "replay through a boss to several: --testbed")
	}
	if v.nodes < 2 || v.nodes > maxTestbedNodes || v.poolMB < 0 {
		return nil, usage("", "--nodes must be from 2 to %d, --pool not negative", maxTestbedNodes)
	}
	v.placers = strings.Split(c.String("placers"), ",")
	if c.String("placers") == "all" {
		v.placers = placement.Names()
	}
	if twice(v.placers) {
		return nil, usage("", "--placers names one twice")
	}
	for _, p := range v.placers {
		if _, err := placement.New(p, 1); err != nil {
			return nil, fail(codeUsage, "choose placer", err, "")
		}
	}
	return v, nil
}

// twice tells whether a name comes again.
func twice(names []string) bool {
	sorted := slices.Sorted(slices.Values(names))
	return len(slices.Compact(sorted)) < len(names)
}

// run compares every policy under every placer. With an error it returns what
// was done before; a replay that ended early is in it, and said to be.
func (v *validation) run(ctx context.Context, out *outputs) (*validationResult, error) {
	env := newReplayEnvironment()
	watch := env.watch(ctx)
	result := &validationResult{Trace: v.plan.name, Nodes: v.nodes, Tolerance: validate.DefaultTolerance()}
	defer func() { v.describe(result, &env, watch) }()
	for i, policy := range v.policies {
		for j, placer := range v.placers {
			c, err := v.compare(ctx, policy, placer, fmt.Sprintf("%d-%d", i, j))
			if c != nil {
				result.Cases = append(result.Cases, c.Case)
				err = errors.Join(err, v.writeRequests(out, c))
			}
			if err != nil {
				return result, err
			}
		}
		if len(v.placers) > 1 {
			cases := result.Cases[len(result.Cases)-len(v.placers):]
			result.Claims = append(result.Claims, validate.Placements(cases, result.Tolerance)...)
		}
	}
	return result, nil
}

// writeRequests writes a row for each request of a case.
func (v *validation) writeRequests(out *outputs, c *comparison) error {
	if out.dir == "" {
		return nil
	}
	name := strings.TrimSuffix("requests-"+c.Policy+"-"+c.Placer, "-") + ".csv"
	err := out.write(name, func(to io.Writer) error { return replay.WriteRequests(to, v.plan.workload, sentOnly(c.sent)) })
	if err != nil {
		return out.failed(err)
	}
	return nil
}

// describe says what was compared, on which machine.
func (v *validation) describe(r *validationResult, env *replayEnvironment, watch func()) {
	watch()
	r.Environment = *env
	r.Scale, r.Requests, r.Lambdas, r.PoolMB = v.plan.scale, len(v.plan.workload.Requests), len(v.plan.workload.Lambdas), v.poolMB
}

// comparison is a case with what was sent.
type comparison struct {
	validate.Case
	sent   []replay.Sample
	during bench.Usage // of the machine, while requests were sent
}

// compare replays under one policy and placer, on machines of its own. With an
// error it returns what was measured up to then, or nil.
func (v *validation) compare(ctx context.Context, policy, placer, id string) (*comparison, error) {
	if err := v.findScale(ctx, policy, placer, id+"-scale"); err != nil {
		return nil, err
	}
	if err := v.choosePool(ctx, policy); err != nil {
		return nil, err
	}
	var c *comparison
	err := v.on(ctx, policy, placer, id, func(r *replayRun) error {
		v.say("replaying under %s %s", policy, placer)
		if err := r.prepare(ctx); err != nil {
			return err
		}
		failed := r.send(ctx)
		if r.sent == nil {
			return failed
		}
		samples := sentOnly(r.sent)
		c = &comparison{sent: r.sent, during: r.result.Environment.During, Case: validate.Case{
			Policy: policy, Placer: placer, Incomplete: len(samples) < len(r.sent),
			Summary: replay.Summarise(samples), Spread: replay.MeasureSpread(samples, r.target.workers...),
			Drift: replay.MeasureDrift(r.plan.workload, samples), Predicted: r.result.Predicted,
			Causes: validate.Explain(r.plan.workload, samples, r.result.Machine.StartTime),
		}}
		return failed
	})
	return c, err
}

// findScale finds the least scale of time that this machine can carry, if the
// user leaves it open. The constants of policies depend on it, so it is found
// on machines of its own; it holds for all cases.
func (v *validation) findScale(ctx context.Context, policy, placer, id string) error {
	if v.plan.chosen {
		return nil
	}
	v.plan.stretch(1)
	auto := v.poolMB == 0
	if err := v.choosePool(ctx, policy); err != nil {
		return err
	}
	err := v.on(ctx, policy, placer, id, func(r *replayRun) error {
		if err := r.prepare(ctx); err != nil {
			return err
		}
		v.settle(r.plan.scale)
		return nil
	})
	if auto {
		v.poolMB = 0 // of the workload in its final scale
	}
	return err
}

// settle fixes a scale that was found. A later measurement that comes out a
// little lower is a warning then: all cases must be alike.
func (v *validation) settle(scale float64) {
	if v.plan.chosen && v.plan.scale == scale {
		return
	}
	v.plan.stretch(scale)
	v.plan.chosen, v.plan.force = true, true
}

// on makes machines, lets a run be done on them, and removes them.
func (v *validation) on(ctx context.Context, policy, placer, id string, do func(*replayRun) error) error {
	scaled := scaledPolicy(demoPolicy(policy, 1), v.plan.scale)
	options := fmt.Sprintf("policy.preset=%s,policy.ttl_sec=%d,policy.window_sec=%d,mem_pool_mb=%d", policy, scaled.TTLSec, scaled.WindowSec, v.poolMB)
	target, stop, err := v.start(ctx, filepath.Join(v.dir, id), placer, options, scaled)
	if err != nil {
		return err
	}
	r := &replayRun{streams: v.streams, plan: v.plan, target: target, scaled: true}
	r.plan.keep = true // the machines are removed
	return errors.Join(do(r), v.removed(stop))
}

// removed removes machines. What cannot be removed is an error, and described
// in the directory, which stays: the next machines would meet it.
func (v *validation) removed(stop func() error) error {
	err := stop()
	if err != nil {
		v.left = true
	}
	return err
}

// start makes a worker, or a testbed.
func (v *validation) start(ctx context.Context, dir, placer, options string, policy config.Policy) (*replayTarget, func() error, error) {
	if placer == "" {
		w, err := startTempWorker(ctx, v.streams, dir, options)
		if err != nil {
			v.left = v.left || w != nil
			return nil, nil, err
		}
		target, err := workerTarget(w.node)
		if err != nil {
			return nil, nil, errors.Join(err, v.removed(w.stop))
		}
		return target, w.stop, nil
	}
	down := func() error { return v.ol(context.WithoutCancel(ctx), "testbed", "down", "-p", dir) }
	err := v.ol(ctx, "testbed", "up", "-p", dir, "--nodes", fmt.Sprint(v.nodes), "--placer", placer, "-o", options)
	if err != nil {
		return nil, nil, errors.Join(err, v.removed(down))
	}
	target, err := testbedTarget(ctx, dir, policy)
	if err != nil {
		return nil, nil, errors.Join(err, v.removed(down))
	}
	return target, down, nil
}

// ol runs another command of this program and keeps what it says for the case
// that it fails.
func (v *validation) ol(ctx context.Context, args ...string) error {
	var talk strings.Builder
	s := v.streams
	s.out, s.err, s.tty = &talk, &talk, false
	if code := run(ctx, s, append([]string{"ol"}, args...)); code != 0 {
		return fail(code, "ol "+strings.Join(args, " "), errors.New(strings.TrimSpace(talk.String())), "")
	}
	return nil
}

// testbedTarget is the boss of the testbed in a directory.
func testbedTarget(ctx context.Context, dir string, policy config.Policy) (*replayTarget, error) {
	t, err := openTestbed(dir)
	if err != nil {
		return nil, err
	}
	token, err := readToken(t.tokenFile())
	if err != nil {
		return nil, err
	}
	b, err := newBossClient(t.bosses(t.url), token, nil)
	if err != nil {
		return nil, err
	}
	return bossTarget(ctx, b, policy)
}

// choosePool takes half of what the workload would use at once, so that there
// is pressure; the first policy chooses for all.
func (v *validation) choosePool(ctx context.Context, policy string) error {
	if v.poolMB > 0 {
		return nil
	}
	if len(v.plan.workload.Requests) == 0 {
		return usage("take another part of it: --first-minute, --minutes, --functions, --duration", "trace %s has no requests there", v.plan.name)
	}
	t := &replayTarget{policy: demoPolicy(policy, 1), poolMB: math.MaxInt32, startSlots: slotsOf(config.Config{})}
	p, err := v.plan.predict(ctx, t, replayMachine{})
	if err != nil {
		return err
	}
	v.poolMB = int(max(p.PeakMB/2/int64(v.nodes), 2*v.plan.workload.LargestMB(), leastPoolMB))
	v.say("memory pool of a worker: %d MB, of %d MB that the workload would use at once", v.poolMB, p.PeakMB)
	return nil
}
