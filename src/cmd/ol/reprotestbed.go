package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/replay"
	"github.com/open-lambda/open-lambda/src/repro"
	"github.com/open-lambda/open-lambda/src/trace"
)

// reproBedFlags are those of ol repro --testbed.
func reproBedFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "testbed", Usage: "replay a part of azure-like on real sandboxes of three workers instead (needs root)"},
		&cli.IntFlag{Name: "functions", Usage: "with --testbed: `N` functions; memory is in proportion", Value: 24},
		&cli.Float64Flag{Name: "gb", Usage: "with --testbed: the paper's cache whose share the functions have, 80 to 160 `GB`", Value: 100},
		&cli.DurationFlag{Name: "span", Usage: "with --testbed: of the workload, before time is scaled", Value: 2 * time.Minute},
		&cli.Float64Flag{Name: "scale", Usage: "with --testbed: factor on all times; 0 takes the least that this machine can carry"},
	}
}

// bedOnly and simulatedOnly are the flags that mean nothing to the other form.
func bedOnly() []string       { return []string{"functions", "gb", "span", "scale"} }
func simulatedOnly() []string { return []string{"quick", "azure", "fc", "parallel"} }

// bedRunner replays under one policy after the other. Every run is kept as soon
// as there is one.
type bedRunner struct {
	streams
	bed  repro.Bed
	kept *repro.Beds
	v    *validation
}

// plannedBed reads the flags.
func plannedBed(c *cli.Context) (bed repro.Bed, seeds int, err error) {
	functions, gb, span, scale, seeds := c.Int("functions"), c.Float64("gb"), c.Duration("span"), c.Float64("scale"), c.Int("seeds")
	if err := ignored(c, simulatedOnly(), "--testbed replays a part of azure-like on real sandboxes", ""); err != nil {
		return bed, 0, err
	}
	switch {
	case c.Args().Present():
		return bed, 0, usage("without figures: ol repro --testbed", "--testbed takes no figures")
	case functions < 2, span <= 0, seeds < 0:
		return bed, 0, usage("", "--functions must be at least 2, --span more than 0, --seeds not negative")
	case !(gb >= 10 && gb <= 1000):
		return bed, 0, usage("the paper has 80, 100, 120, 140 and 160", "--gb must be from 10 to 1000, got %g", gb)
	case scale != 0 && !(scale >= leastScale && scale <= mostScale):
		return bed, 0, usage("1 is real time, 2 half as fast", "--scale must be from %g to %g, or 0, got %g", leastScale, float64(mostScale), scale)
	}
	bed = repro.NewBed(functions, gb, span, 1)
	bed.Scale = scale
	return bed, max(1, seeds), nil
}

func reproTestbed(s streams, c *cli.Context) error {
	bed, seeds, err := plannedBed(c)
	if err != nil {
		return err
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
	// The kernel ends workers with the thread that started them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	kept := &repro.Beds{Dir: filepath.Join(dir, "cells"), Build: build, AnyBuild: c.Bool("any-build"), Chosen: bed.Scale != 0}
	var runs []repro.BedRun
	for i := range seeds {
		r := &bedRunner{streams: s, bed: bed, kept: kept}
		r.bed.Seed = uint64(i + 1)
		of, err := r.all(c)
		if err != nil && len(runs) > 0 { // what is whole is shown
			return errors.Join(reproBedReport(s, c, dir, build, runs), err)
		} else if err != nil {
			return err
		}
		bed.Scale = of[0].Bed.Scale // one for all seeds
		runs = append(runs, of...)
	}
	return reproBedReport(s, c, dir, build, runs)
}

func reproBedReport(s streams, c *cli.Context, dir, build string, runs []repro.BedRun) error {
	for i := range runs {
		if why := runs[i].Unsound(); why != "" {
			s.say("warning: no verdict rests on seed %d: %s", runs[i].Bed.Seed, why)
		}
	}
	o, data, err := repro.Testbed(runs, build)
	if err == nil {
		err = repro.Write(dir, []repro.Outcome{o}, data)
	}
	if err != nil {
		return fail(codeFailed, "write results", err, "the replays are kept: mend it and type the same again")
	}
	return reproVerdict(s, c, dir, data.Scene, []repro.Outcome{o})
}

// all replays under every policy, with one scale of time.
func (r *bedRunner) all(c *cli.Context) ([]repro.BedRun, error) {
	temp, err := os.MkdirTemp("", "ol-repro-")
	if err != nil {
		return nil, fmt.Errorf("make temporary directory: %w", err)
	}
	if err := r.plan(temp); err != nil {
		return nil, errors.Join(err, os.Remove(temp))
	}
	defer r.v.clean()
	var runs []repro.BedRun
	for i, policy := range repro.BedPolicies() {
		run, ok := r.kept.Load(r.bed, policy)
		if !ok {
			if run, err = r.one(c, policy, fmt.Sprint(i)); err != nil {
				return nil, err
			}
		}
		r.bed.Scale = run.Bed.Scale // what the first one found holds for all
		r.v.settle(run.Bed.Scale)
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
		name: "azure-like", scale: cmp.Or(r.bed.Scale, 1), timeout: answerLimit, giveUp: answerLimit,
		chosen: r.bed.Scale != 0, force: !r.kept.Chosen, // see settle
		cost: lambdaCost{builtin: "init", hold: 1.0 / demoHoldShare, idle: true},
	}
	if p.profiles, p.invocations, err = trace.Collect(w); err != nil {
		return fail(codeFailed, "make workload", err, "")
	}
	p.stretch(p.scale)
	r.v = &validation{streams: r.streams, plan: p, nodes: r.bed.Nodes, poolMB: r.bed.PoolMB, dir: temp}
	if largest := int(p.workload.LargestMB()); 2*largest > r.bed.PoolMB {
		least := 1 + r.bed.Functions*2*largest/r.bed.PoolMB
		return usage(fmt.Sprintf("take more functions: --functions %d", least), "the largest function takes %d MB, and each worker has %d MB for %d functions", largest, r.bed.PoolMB, r.bed.Functions)
	}
	return nil
}

func (r *bedRunner) one(c *cli.Context, policy, id string) (repro.BedRun, error) {
	got, err := r.v.compare(c.Context, policy, r.bed.Placer, id)
	if got == nil {
		return repro.BedRun{}, err
	}
	r.bed.Scale = r.v.plan.scale
	run := repro.BedRun{
		Bed: r.bed, Build: r.kept.Build, Policy: policy, Summary: got.Summary, Predicted: got.Predicted, Drift: got.Drift.Worst, Usage: got.during,
	}
	err = errors.Join(err, r.keepRequests(policy, got))
	if got.Incomplete {
		return run, err
	}
	if err := r.kept.Keep(run); err != nil {
		return run, fail(codeFailed, "keep replay", err, "")
	}
	return run, err
}

// keepRequests keeps a row for each request, of a replay that ended early too.
func (r *bedRunner) keepRequests(policy string, got *comparison) error {
	var csv bytes.Buffer
	err := replay.WriteRequests(&csv, r.v.plan.workload, sentOnly(got.sent))
	if err == nil {
		err = r.kept.KeepRequests(r.bed, policy, csv.Bytes(), !got.Incomplete)
	}
	if err != nil {
		return fail(codeFailed, "keep replay", err, "")
	}
	return nil
}
