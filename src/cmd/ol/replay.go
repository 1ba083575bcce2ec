package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/replay"
	"github.com/open-lambda/open-lambda/src/replay/timeline"
)

func replayCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "replay",
		Usage: "replay a trace against a worker or a cluster that runs",
		Description: "Installs a lambda for each function of the trace, then sends every request at\n" +
			"its moment, whether or not earlier ones were answered.\n\n" +
			"  ol replay --trace s1 --functions 40 --minutes 5 -p w1\n" +
			"  ol replay --trace s1 --boss http://host:5000 --scale 2 --out results\n\n" +
			"It refuses what this machine could not carry, and says what to change. Lambdas\n" +
			"whose name begins with replay- are its own.",
		Flags:       append(append(traceFlags(), replayFlags()...), append(append([]cli.Flag{pathFlag()}, bossFlags()...), jsonFlag())...),
		Subcommands: []*cli.Command{replayDrawCommand(s)},
		Action: func(c *cli.Context) error {
			if err := wantArgs(c, 0, 0, "--trace s1 -p DIR"); err != nil {
				return err
			}
			return runReplay(s, c)
		},
	}
}

// loadFlags say how a workload is replayed.
func loadFlags(init string) []cli.Flag {
	return []cli.Flag{
		&cli.Float64Flag{Name: "scale", Usage: "factor on arrivals, execution and initialisation; 2 is half as fast; 0 takes the least that this machine can carry", Value: 1},
		&cli.DurationFlag{Name: "duration", Usage: "stop sending after this time; 0 goes to the end of the trace"},
		&cli.IntFlag{Name: "connections", Usage: "connections at a time, beyond which requests wait; 0 is no limit"},
		&cli.StringFlag{Name: "exec", Usage: "what handlers do for their execution time: sleep, busy", Value: "sleep"},
		&cli.StringFlag{Name: "init", Usage: "what initialisation does for its time: busy, sleep", Value: init},
		&cli.Float64Flag{Name: "hold", Usage: "share of its memory that a sandbox really fills, 0 to 1", Value: 1.0 / demoHoldShare},
		&cli.DurationFlag{Name: "timeout", Usage: "wait for an answer at most so long, and the longest execution besides", Value: answerLimit},
		&cli.DurationFlag{Name: "give-up", Usage: "stop when nobody has answered for so long", Value: 10 * time.Second},
		&cli.BoolFlag{Name: "force", Usage: "replay even what this machine cannot carry"},
		&cli.StringFlag{Name: "out", Usage: "write the results into `DIR`"},
	}
}

func replayFlags() []cli.Flag {
	return append(loadFlags("busy"),
		&cli.StringFlag{Name: "lambda", Usage: "let this `LAMBDA` of the test registry stand for every function, for instance echo"},
		&cli.StringFlag{Name: "policy", Usage: "preset that a cluster's workers run, for the prediction, if they do not say", Value: "cidre"},
		&cli.BoolFlag{Name: "keep", Usage: "leave the lambdas installed"},
		&cli.StringFlag{Name: "perfetto", Usage: "write what every sandbox did into `FILE`, for ui.perfetto.dev or chrome://tracing"},
		&cli.StringFlag{Name: "record", Usage: "keep what every sandbox did in `FILE`, for ol replay draw"},
		&cli.BoolFlag{Name: "timeline", Usage: "draw what every sandbox did, for short replays"},
	)
}

// replayRun is a replay from its plan to its result.
type replayRun struct {
	streams
	plan   replayPlan
	target *replayTarget
	out    *outputs
	result replayResult
	sent   []replay.Sample

	sandboxes *sandboxWatch // nil: nobody wants to see sandboxes
	tracks    []*timeline.Track

	scaled bool // the policy's constants are scaled as time is
}

func runReplay(s streams, c *cli.Context) error {
	plan, err := planReplay(s, c)
	if err != nil {
		return err
	}
	target, err := findReplayTarget(s, c)
	if err != nil {
		return err
	}
	out, err := newOutputs(s, c.String("out"))
	if err != nil {
		return fail(codeUsage, "prepare results", err, "choose another directory: --out DIR")
	}
	defer out.abort()
	r := &replayRun{streams: s, plan: plan, target: target, out: out}
	if err := r.prepare(c.Context); err != nil {
		return err
	}
	return r.run(c.Context, c.Bool("json"))
}

// run sends, and tells what came of it before it cleans up: a target that hangs
// may take its time for that, and a user may lose patience.
func (r *replayRun) run(ctx context.Context, asJSON bool) error {
	err := r.send(ctx)
	if r.sent != nil {
		if err = errors.Join(err, r.report(asJSON), r.draw()); err == nil {
			err = r.verdict()
		}
	}
	if r.plan.keep {
		return err
	}
	return errors.Join(err, r.target.remove(context.WithoutCancel(ctx), r.plan.workload))
}

// mostBusy is the processor use before a replay beyond which a user is warned;
// the probes themselves use little.
const mostBusy = 0.5

// prepare measures what the replay will meet, and refuses it if that cannot
// carry it.
func (r *replayRun) prepare(ctx context.Context) error {
	machine, err := r.target.measure(ctx, r.plan.cost)
	if err != nil {
		return err
	}
	r.say("starts of sandboxes: %.0f/s at once, %v alone", machine.ColdPerSec, machine.StartTime.Round(time.Millisecond))
	if machine.Busy > mostBusy {
		r.say("warning: other programs keep this machine's processors %.0f %% busy: it is they that will be measured", 100*machine.Busy)
	}
	r.result.Machine = machine
	if err := r.plan.fit(ctx, r.streams, r.target, machine); err != nil {
		return err
	}
	if r.result.Predicted, err = r.plan.predict(ctx, r.target, machine); err != nil {
		return err
	}
	w := r.plan.workload
	r.say("workload: %d requests to %d lambdas in %.0f s", len(w.Requests), len(w.Lambdas), w.Span().Seconds())
	r.target.warn(r.streams, r.plan.scale, r.scaled)
	return nil
}

// send installs and replays. Without samples nothing was sent.
func (r *replayRun) send(ctx context.Context) error {
	if err := r.target.install(ctx, r.plan.workload, r.plan.cost); err != nil {
		return err
	}
	if err := r.watchSandboxes(ctx); err != nil {
		return err
	}
	r.result.Environment = newReplayEnvironment()
	watch := r.result.Environment.watch(ctx)
	r.result.Began = time.Now()
	replayer := r.plan.replayer(r.target)
	replayer.Progress = r.progress()
	replayer.Turned = func(to string) { r.say("warning: a boss cannot be reached any more: going on with %s", to) }
	var err error
	r.sent, err = replayer.Run(ctx, r.plan.workload)
	r.result.Seconds = time.Since(r.result.Began).Seconds()
	watch()
	r.endProgress()
	if r.sandboxes != nil {
		r.tracks = r.sandboxes.end(r.result.Began)
	}
	return replayFailure(err)
}

// replayFailure says why a replay ended early.
func replayFailure(err error) error {
	var drift *replay.DriftError
	switch {
	case errors.Is(err, replay.ErrGone):
		return fail(codeNotRunning, "replay", err, "what was measured is kept; "+seeTarget)
	case errors.Is(err, replay.ErrFiles):
		return fail(codeFailed, "replay", err, "allow more of them: ulimit -n 65536; or let requests wait for a connection: --connections N")
	case errors.As(err, &drift):
		return fail(codeFailed, "replay", err, "send less from this machine: fewer functions (--functions), or slower (--scale)")
	}
	return err
}

// progress shows rates and kinds of start on a terminal.
func (r *replayRun) progress() func(replay.Progress) {
	if !r.tty {
		return nil
	}
	var last replay.Progress
	span := r.plan.workload.Span().Seconds()
	return func(now replay.Progress) {
		rate := float64(now.Done-last.Done) / max((now.Elapsed-last.Elapsed).Seconds(), 1e-3)
		last = now
		fmt.Fprintf(r.err, "\r\033[K%3.0f of %.0f s  %d sent  %.0f/s answered  %d in flight  %d cold  %d delayed  %d warm  %d errors",
			now.Elapsed.Seconds(), span, now.Sent, rate, now.InFlight, now.Cold, now.Delayed, now.Warm, now.Errors)
	}
}

func (r *replayRun) endProgress() {
	if r.tty {
		r.say("")
	}
}
