package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/repro"
	"github.com/open-lambda/open-lambda/src/sim/fit"
	"github.com/open-lambda/open-lambda/src/trace"
)

func simFitCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "fit",
		Usage: "calibrate a generated workload to figures of the paper",
		Description: "Chooses parameters of the generator so that policies come to what the paper's\n" +
			"Fig. 12 says of them. What it was fitted to is recorded in the file and told with\n" +
			"every result that uses it; only other figures are predictions.\n\n" +
			"  ol sim fit --to faascache,lru,cidre-bss,cidre --mem 100 -o mine.json\n" +
			"  ol sim run --trace mine.json --policy cidre,offline --mem 100\n\n" +
			"Evaluations are kept beside the file: an interrupted fit goes on where it was.\n" +
			"With --evaluations 0 nothing is fitted: the figures are measured and recorded.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "`POLICIES` whose figures are aimed at: " + strings.Join(repro.PaperPolicies(), ", "), Value: "faascache"},
			&cli.StringFlag{Name: "figures", Usage: "what is aimed at: overhead, cold or both", Value: trace.Overhead},
			&cli.StringFlag{Name: "mem", Usage: "cache sizes of the paper in `GB`: 80, 100, 120, 140, 160", Value: "100"},
			&cli.StringFlag{Name: "sample", Usage: "sample of the paper: azure or fc", Value: "azure"},
			&cli.StringFlag{Name: "from", Usage: "begin at this generated `TRACE`, or neutral: what the paper states, all else in the middle of its range", Value: "neutral"},
			&cli.StringFlag{Name: "free", Usage: "`PARAMETERS` to choose", Value: strings.Join(fit.FreeNames(), ",")},
			&cli.IntFlag{Name: "minutes", Usage: "look at the first `MINUTES` of the workload in each evaluation; 0 takes all", Value: 5},
			&cli.IntFlag{Name: "seeds", Usage: "look at `N` seeds in each evaluation", Value: 1},
			&cli.IntFlag{Name: "evaluations", Usage: "stop after `N`; 0 only measures", Value: 300},
			&cli.DurationFlag{Name: "time", Usage: "stop after this time", Value: 15 * time.Minute},
			&cli.IntFlag{Name: "check-seeds", Usage: "measure the whole workload with `N` seeds in the end", Value: 3},
			&cli.StringFlag{Name: "predict", Usage: "`POLICIES` whose other figures are measured in the end; none leaves them out", Value: "faascache,lru,cidre-bss,cidre,offline"},
			&cli.IntFlag{Name: "parallel", Usage: "simulations at a time; 0 takes one for each core"},
			&cli.StringFlag{Name: "name", Usage: "`NAME` of the workload; that of the file if not given"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write the parameters to `FILE`", Value: "workload.json"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error { return simFit(s, c) },
	}
}

// fitJob is a fit under way.
type fitJob struct {
	streams
	plan   fit.Plan
	record trace.Calibration
	seeds  []uint64 // of the measurement in the end
	path   string
	name   string
	found  fit.Found
}

func simFit(s streams, c *cli.Context) error {
	if err := wantArgs(c, 0, 0, "--to faascache,cidre --mem 100 -o mine.json"); err != nil {
		return err
	}
	j, err := newFitJob(s, c)
	if err != nil {
		return err
	}
	if err := writable(filepath.Dir(j.path)); err != nil {
		return fail(codeUsage, "prepare results", err, "choose another file: -o FILE")
	}
	if err := j.search(c.Context, c.Duration("time")); err != nil {
		return fitFailure(err)
	}
	if err := j.measure(c.Context); err != nil {
		return fitFailure(err)
	}
	if err := j.write(); err != nil {
		return fail(codeFailed, "write workload", err, "evaluations are kept: mend it and type the same again")
	}
	if c.Bool("json") {
		return s.printJSON(j.record)
	}
	j.print()
	return nil
}

func fitFailure(err error) error {
	if errors.Is(err, context.Canceled) {
		return fail(codeInterrupted, "fit workload", errors.New("interrupted"), "evaluations are kept: the same command goes on from there")
	}
	return simFailure("fit workload", err)
}

func newFitJob(s streams, c *cli.Context) (*fitJob, error) {
	j := &fitJob{streams: s, path: s.abs(c.String("out")), name: c.String("name")}
	if j.name == "" {
		j.name = strings.TrimSuffix(filepath.Base(j.path), filepath.Ext(j.path))
	}
	j.plan = fit.Plan{
		Minutes: c.Int("minutes"), Seeds: repro.Seeds(max(0, c.Int("seeds"))), Evaluations: c.Int("evaluations"),
		Free: strings.Split(c.String("free"), ","), Parallel: c.Int("parallel"),
	}
	if j.plan.Parallel <= 0 {
		j.plan.Parallel = runtime.GOMAXPROCS(0)
	}
	if c.Int("seeds") < 1 || c.Int("check-seeds") < 1 || c.Int("evaluations") < 0 || c.Int("minutes") < 0 || c.Duration("time") <= 0 {
		return nil, usage("", "--seeds and --check-seeds must be at least 1, --time more than 0, --evaluations and --minutes not negative")
	}
	if c.Int("evaluations") == 0 {
		search := []string{"free", "minutes", "seeds", "time"}
		if err := ignored(c, search, "--evaluations 0 searches for nothing", ""); err != nil {
			return nil, err
		}
	}
	j.seeds = repro.Seeds(c.Int("check-seeds"))
	if err := j.chooseTargets(c); err != nil {
		return nil, err
	}
	if err := j.chooseStart(c.String("sample"), c.String("from")); err != nil {
		return nil, err
	}
	if err := j.plan.Check(); err != nil {
		return nil, fail(codeUsage, "plan fit", err, "free parameters: "+strings.Join(fit.FreeNames(), ", "))
	}
	return j, nil
}

// chooseTargets finds the paper's values.
func (j *fitJob) chooseTargets(c *cli.Context) error {
	figures := strings.Split(c.String("figures"), ",")
	if c.String("figures") == "both" {
		figures = []string{trace.Overhead, trace.Cold}
	}
	pools, err := poolSizes(c.String("mem"))
	if err != nil {
		return err
	}
	j.record.Sample = c.String("sample")
	for _, mb := range pools {
		gb := float64(mb) / mbPerGB
		for policy := range strings.SplitSeq(c.String("to"), ",") {
			for _, figure := range figures {
				if figure != trace.Overhead && figure != trace.Cold {
					return usage("", "--figures is overhead, cold or both, not %q", figure)
				}
				t, err := repro.PaperTarget(j.record.Sample, policy, figure, gb)
				if err != nil {
					return fail(codeUsage, "choose targets", err, "it has "+strings.Join(repro.PaperPolicies(), ", ")+" with 80, 100, 120, 140 and 160 GB on azure and fc")
				}
				j.record.Targets = append(j.record.Targets, t)
			}
		}
		for policy := range strings.SplitSeq(c.String("predict"), ",") {
			j.predict(policy, gb)
		}
	}
	j.plan.Targets = j.record.Targets
	return nil
}

// predict adds figures that are not aimed at, as far as the paper has them.
func (j *fitJob) predict(policy string, gb float64) {
	for _, figure := range []string{trace.Overhead, trace.Cold} {
		t, err := repro.PaperTarget(j.record.Sample, policy, figure, gb)
		if err == nil && !j.record.Fits(policy, figure, gb) {
			j.record.Others = append(j.record.Others, t)
		}
	}
}

// chooseStart finds the parameters with which the search begins.
func (j *fitJob) chooseStart(sample, from string) error {
	j.record.From = from
	if from == "neutral" {
		var err error
		if j.plan.Start, err = trace.Neutral(sample); err != nil {
			return fail(codeUsage, "choose start", err, "")
		}
		return nil
	}
	source, err := loadTrace(j.streams, from)
	if err != nil {
		return err
	}
	if source.Synthetic == nil {
		return usage("generated ones: "+strings.Join(trace.Generated(), ", ")+", draw-1 to draw-99", "trace %s is not generated: it has no parameters", from)
	}
	j.plan.Start, j.record.From = *source.Synthetic, source.Name
	return nil
}

// search looks for parameters, within a time.
func (j *fitJob) search(ctx context.Context, limit time.Duration) (err error) {
	build, err := repro.BuildID()
	if err != nil {
		return fmt.Errorf("identify this program: %w", err)
	}
	log := &fit.Log{}
	if j.plan.Evaluations > 0 {
		if log, err = j.plan.OpenLog(j.path+".evaluations", build); err != nil {
			return err
		}
		if n := log.Len(); n > 0 {
			j.say("%s kept from an earlier run", plural(n, "evaluation", "evaluations"))
		}
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	end := time.Now().Add(limit)
	j.found, err = j.plan.Search(ctx, log, func() bool { return time.Now().After(end) }, j.progress)
	if j.tty {
		fmt.Fprint(j.err, "\r\033[K")
	}
	j.record.Engine = version().line() + ", build " + build
	return err
}

func (j *fitJob) progress(n int, best float64) {
	if j.tty {
		fmt.Fprintf(j.err, "\revaluation %d of %d; mean square distance %.2f points", n, j.plan.Evaluations, best)
	}
}

// measure measures the whole workload, and completes the record.
func (j *fitJob) measure(ctx context.Context) error {
	j.say("measuring the whole workload with %s", plural(len(j.seeds), "seed", "seeds"))
	all := j.plan
	all.Targets = slices.Concat(j.record.Targets, j.record.Others)
	m, err := all.Measure(ctx, j.found.Synthetic, 0, j.seeds)
	if err != nil {
		return err
	}
	for i := range all.Targets {
		all.Targets[i].Ours, all.Targets[i].Half = m.Values[i].Mean, m.Values[i].Half
	}
	n := len(j.record.Targets)
	r := &j.record
	r.Targets, r.Others = all.Targets[:n:n], all.Targets[n:]
	r.MeasuredSeeds, r.Hashes = j.seeds, m.Hashes[:n*len(j.seeds)]
	r.Evaluations, r.Ended, r.Loss = j.found.Evaluations, j.found.Ended, j.found.Loss
	if r.Evaluations > 0 {
		r.Free, r.Minutes, r.Seeds = j.plan.Free, j.plan.Minutes, j.plan.Seeds
	}
	return nil
}
