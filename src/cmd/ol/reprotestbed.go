package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/bench"
	"github.com/open-lambda/open-lambda/src/replay"
	"github.com/open-lambda/open-lambda/src/repro"
	"github.com/open-lambda/open-lambda/src/trace"
)

// reproBedFlags are those of ol repro --testbed.
func reproBedFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "testbed", Usage: "replay a part of azure-like on real sandboxes of three workers instead (needs root)"},
		&cli.IntFlag{Name: "functions", Usage: "with --testbed: `N` functions; memory is in proportion", Value: 24},
		&cli.DurationFlag{Name: "span", Usage: "with --testbed: of the workload, before time is scaled", Value: bedSpan},
		&cli.Float64Flag{Name: "scale", Usage: "with --testbed: factor on all times; 0 takes the least that this machine can carry"},
	}
}

const (
	bedSpan  = 2 * time.Minute
	busyLoad = 1.5 // of a core: more is not the replay alone
)

// bedRunner replays under one policy after the other. Every run is kept as soon
// as there is one.
type bedRunner struct {
	streams
	bed   repro.Bed
	build string
	dir   string // of kept runs
	v     *validation
}

func reproTestbed(s streams, c *cli.Context) error {
	bed := repro.NewBed(c.Int("functions"), c.Duration("span"), 1)
	seeds := max(1, c.Int("seeds"))
	if c.Int("functions") < 2 || c.Duration("span") <= 0 || c.Args().Present() {
		return usage("", "--testbed takes no figures, --functions must be at least 2 and --span more than 0")
	}
	dir := s.abs(c.String("out"))
	hold, err := holdResults(dir)
	if err != nil {
		return err
	}
	defer hold.Close() //nolint:errcheck // it ends with the process
	if err := errors.Join(requireRoot("reproduce on a testbed"), requireFit(c.Context, "reproduce on a testbed", true)); err != nil {
		return err
	}
	build, err := repro.BuildID()
	if err != nil {
		return fail(codeFailed, "identify this program", err, "")
	}
	temp, err := os.MkdirTemp("", "ol-repro-")
	if err != nil {
		return fmt.Errorf("make temporary directory: %w", err)
	}
	defer os.RemoveAll(temp)
	// The kernel ends workers with the thread that started them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var runs []repro.BedRun
	scale := c.Float64("scale")
	for i := range seeds {
		r := &bedRunner{streams: s, bed: bed, build: build, dir: filepath.Join(dir, "cells")}
		r.bed.Seed = uint64(i + 1)
		r.bed.Scale = scale
		of, err := r.all(c, filepath.Join(temp, fmt.Sprint(i)))
		if err != nil {
			return err
		}
		scale = of[0].Bed.Scale // one for all seeds
		runs = append(runs, of...)
	}
	return reproBedReport(s, c, dir, runs)
}

func reproBedReport(s streams, c *cli.Context, dir string, runs []repro.BedRun) error {
	o, data, err := repro.Testbed(runs)
	if err == nil {
		err = repro.Write(dir, []repro.Outcome{o}, data)
	}
	if err != nil {
		return fail(codeFailed, "write results", err, "the replays are kept: mend it and type the same again")
	}
	return reproVerdict(s, c, dir, data.Scene, []repro.Outcome{o})
}

// all replays under every policy, with one scale of time.
func (r *bedRunner) all(c *cli.Context, temp string) ([]repro.BedRun, error) {
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return nil, fail(codeFailed, "keep replays", err, "")
	}
	if err := r.plan(temp); err != nil {
		return nil, err
	}
	var runs []repro.BedRun
	for i, policy := range repro.BedPolicies() {
		run, ok := r.load(policy)
		if !ok {
			var err error
			if run, err = r.one(c, policy, fmt.Sprint(i)); err != nil {
				return nil, err
			}
		}
		r.bed.Scale = run.Bed.Scale // what the first one found holds for all
		r.v.plan.stretch(run.Bed.Scale)
		r.v.plan.chosen = true
		runs = append(runs, run)
	}
	return runs, nil
}

// plan makes the workload.
func (r *bedRunner) plan(temp string) error {
	w, err := r.bed.Workload()
	if err != nil {
		return fail(codeFailed, "make workload", err, "")
	}
	p := replayPlan{
		name: "azure-like", scale: r.bed.Scale, chosen: r.bed.Scale != 0, timeout: answerLimit, giveUp: answerLimit,
		cost: lambdaCost{builtin: "init", hold: 1.0 / demoHoldShare, idle: true},
	}
	if p.profiles, p.invocations, err = trace.Collect(w); err != nil {
		return fail(codeFailed, "make workload", err, "")
	}
	p.stretch(max(p.scale, leastScale))
	r.v = &validation{streams: r.streams, plan: p, nodes: r.bed.Nodes, poolMB: r.bed.PoolMB, dir: temp}
	return nil
}

func (r *bedRunner) one(c *cli.Context, policy, id string) (repro.BedRun, error) {
	usageNow := bench.WatchUsage(c.Context)
	got, err := r.v.compare(c.Context, policy, r.bed.Placer, id)
	u := usageNow()
	if err != nil {
		return repro.BedRun{}, err
	}
	run := repro.BedRun{
		Bed: r.bed, Build: r.build, Policy: policy, Summary: got.Summary, Predicted: got.Predicted, Drift: got.Drift.Worst,
		Load: fmt.Sprintf("Mean load of the machine (%d cores) during the first run: %.1f.", runtime.NumCPU(), u.LoadMean),
	}
	run.Bed.Scale = r.v.plan.scale
	if u.LoadMean > busyLoad*float64(runtime.NumCPU()) {
		r.say("warning: the mean load was %.1f on %d cores: this run says more of the machine than of %s", u.LoadMean, runtime.NumCPU(), policy)
	}
	if got.Drift.Worst > replay.MostDrift {
		return run, replayFailure(&replay.DriftError{Drift: got.Drift})
	}
	text, err := json.Marshal(run)
	if err == nil {
		err = os.WriteFile(r.path(policy), text, 0o644)
	}
	if err != nil {
		return run, fail(codeFailed, "keep replay", err, "")
	}
	return run, nil
}

func (r *bedRunner) path(policy string) string {
	return filepath.Join(r.dir, fmt.Sprintf("testbed-%s-%d.json", policy, r.bed.Seed))
}

// load returns a run that was kept and is of this program and this bed.
func (r *bedRunner) load(policy string) (repro.BedRun, bool) {
	var run repro.BedRun
	text, err := os.ReadFile(r.path(policy))
	if err != nil || json.Unmarshal(text, &run) != nil || run.Build != r.build {
		return run, false
	}
	want := r.bed
	if want.Scale == 0 {
		want.Scale = run.Bed.Scale
	}
	return run, run.Bed == want
}
