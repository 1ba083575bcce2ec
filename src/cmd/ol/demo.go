package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/replay"
	"github.com/open-lambda/open-lambda/src/trace"
)

// The workload of the demo: one minute of the trace that ships with the
// project. The pool is chosen so that memory is short, while two cores are not
// (see replay.Prediction). The data does not say how uneven the seconds inside
// a minute are; by default they are taken as alike.
const (
	demoMinute  = 20 // counted from 0
	demoSeed    = 1
	demoMaxExec = 1500 * time.Millisecond
	demoPoolMB  = 2000
	demoTTL     = 600 * time.Second // OpenLambda's keep-alive, before scaling
	demoWindow  = 900 * time.Second // CIDRE's window (section 3.2), before scaling
)

func demoCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "replay a real trace under two policies, compare (needs root)",
		Description: "Starts a worker in a temporary directory, installs twelve lambdas of\n" +
			"different size and replays a minute of the Azure Functions 2019 trace,\n" +
			"first under ttl, the stock keep-alive, then under cidre. Nothing is left\n" +
			"behind.",
		Flags: []cli.Flag{
			jsonFlag(),
			&cli.StringFlag{Name: "policies", Usage: "presets to compare, in order", Value: "ttl,cidre"},
			&cli.IntFlag{Name: "minutes", Usage: "minutes of the trace", Value: 1},
			&cli.Float64Flag{Name: "stretch", Usage: "scaled time: arrivals, execution, initialisation, keep-alive and window are all this many times as long; 0 takes the least that this machine can carry"},
			&cli.Int64Flag{Name: "pool", Usage: "memory pool of the worker, `MB`", Value: demoPoolMB},
			&cli.Float64Flag{Name: "sigma", Usage: "unevenness of the seconds inside a minute: 0 alike, 1, 2"},
			&cli.Uint64Flag{Name: "seed", Usage: "of the arrivals inside a minute", Value: demoSeed},
		},
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 0, ""); err != nil {
				return err
			}
			return demo(s, c)
		},
	}
}

// demoPlan is what a demo is going to do.
type demoPlan struct {
	policies    []string
	stretch     float64
	chosen      bool // the user has chosen stretch
	poolMB      int64
	functions   []trace.Function
	invocations []trace.Invocation
	workload    replay.Workload
}

// maxStretch is the longest that the demo makes itself: a few minutes each.
const maxStretch = 5

func (p *demoPlan) scale(stretch float64) {
	p.stretch = stretch
	p.workload = replay.Scale(p.functions, p.invocations, stretch)
}

func demo(s streams, c *cli.Context) error {
	plan, err := planDemo(c)
	if err != nil {
		return err
	}
	if err := requireRoot("run demo"); err != nil {
		return err
	}
	if err := requireFit(c.Context, "run demo", true); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ol-demo-")
	if err != nil {
		return fmt.Errorf("make temporary directory: %w", err)
	}
	defer os.RemoveAll(dir)
	// The workers are told by the kernel when the thread that started them is
	// gone; this keeps it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	results, err := plan.run(c.Context, s, dir)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return s.printJSON(results)
	}
	printDemo(s, plan, results)
	return nil
}

func planDemo(c *cli.Context) (demoPlan, error) {
	plan := demoPlan{stretch: 1, chosen: c.Float64("stretch") != 0, poolMB: c.Int64("pool")}
	if plan.chosen {
		plan.stretch = c.Float64("stretch")
	}
	for name := range strings.SplitSeq(c.String("policies"), ",") {
		if _, err := makePolicy(demoPolicy(name, 1)); err != nil {
			return plan, err
		}
		plan.policies = append(plan.policies, name)
	}
	if !(plan.stretch >= 0.2 && plan.stretch <= 60) { // NaN as well
		return plan, usage("1 is real time, 2 twice as slow: --stretch 2", "run demo: --stretch must be from 0.2 to 60, got %g", plan.stretch)
	}
	if sigma := c.Float64("sigma"); !(sigma >= 0 && sigma <= 3) {
		return plan, usage("seconds that are alike: --sigma 0", "run demo: --sigma must be from 0 to 3, got %g", sigma)
	}
	functions, err := trace.Excerpt()
	if err != nil {
		return plan, err
	}
	invocations, err := trace.Expand(functions, trace.Options{
		First: demoMinute, Minutes: c.Int("minutes"), Sigma: c.Float64("sigma"), MaxExec: demoMaxExec, Seed: c.Uint64("seed"),
	})
	if err != nil || c.Int("minutes") < 1 {
		return plan, usage("there are 10 minutes: --minutes 10", "run demo: --minutes must be from 1 to 10, got %d", c.Int("minutes"))
	}
	plan.functions, plan.invocations = functions, invocations
	plan.scale(plan.stretch)
	for _, l := range plan.workload.Lambdas {
		if plan.poolMB < 2*l.MemMB {
			return plan, usage("a pool with pressure: --pool 2000", "run demo: --pool %d is less than twice the largest lambda, %d MB", plan.poolMB, l.MemMB)
		}
	}
	return plan, nil
}

// run measures the machine, then replays under each policy in turn.
func (p *demoPlan) run(ctx context.Context, s streams, dir string) ([]demoResult, error) {
	rate, err := p.measureColdRate(ctx, s, dir)
	if err != nil {
		return nil, err
	}
	s.say("this machine makes %.0f sandboxes/s", rate)
	if err := p.fit(ctx, s, rate); err != nil {
		return nil, err
	}
	s.say("workload: %d requests to %d lambdas in %.0f s, memory pool %d MB",
		len(p.workload.Requests), len(p.workload.Lambdas), p.workload.Span().Seconds(), p.poolMB)
	var results []demoResult
	for i, name := range p.policies {
		result, err := p.replay(ctx, s, fmt.Sprintf("%s/%d-%s", dir, i, name), name)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

// fit refuses a replay that would measure the machine and not the policy, or
// takes a slower one if the user leaves the choice.
func (p *demoPlan) fit(ctx context.Context, s streams, rate float64) error {
	factor := 1.0
	for _, name := range p.policies {
		predicted, err := p.predict(ctx, name)
		if err != nil {
			return err
		}
		err = predicted.Check(demoMachine(rate))
		var much *replay.TooMuch
		if !errors.As(err, &much) {
			continue
		}
		factor = max(factor, much.Factor*1.1)
		if p.chosen || factor > maxStretch {
			return fail(codeUnfit, "run demo under "+name, err, fmt.Sprintf("stretch time: ol demo --stretch %.1f", p.stretch*factor))
		}
	}
	if factor > 1 {
		p.scale(math.Ceil(10*factor) / 10)
		s.say("all times are %.1f times as long, for this machine to keep up", p.stretch)
	}
	return nil
}
