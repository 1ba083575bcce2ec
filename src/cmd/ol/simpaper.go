package main

import (
	"errors"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/repro"
	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/sim/study"
)

// paperWorkload is one of those that ship with the project, those of per-minute
// counts as sN-sigmaS, with the paper's memory and execution.
func paperWorkload(name string) (traceChoice, error) {
	w, err := repro.FindWorkload(name)
	t := traceChoice{source: w.Source, o: w.Options, m: w.Model}
	_, row, _ := strings.Cut(name, "-sigma")
	var unknown *repro.UnknownWorkloadError
	switch {
	case errors.As(err, &unknown), err == nil && t.source.Synthetic == nil && row == "":
		return t, usage("known: "+strings.Join(orderNames(), ", ")+", s1-sigma0, 1, 2, draw-1 to draw-99", "there is no workload %q", name)
	case err != nil:
		return t, fail(codeUsage, "choose workload", err, "")
	}
	return t, nil
}

// paperCells runs policies on one workload.
func paperCells(s streams, c *cli.Context, t traceChoice, pools []int64, policies []study.Policy) ([]study.Cell, error) {
	p := study.Plan{
		Base:     sim.Config{Nodes: 1, Warmup: true, Languages: 3},
		Workload: t.workload, Policies: policies, PoolsMB: pools, Parallel: c.Int("parallel"),
	}
	if p.Parallel <= 0 {
		p.Parallel = runtime.GOMAXPROCS(0)
	}
	for i := range c.Int("seeds") {
		p.Seeds = append(p.Seeds, uint64(i+1))
	}
	bar := newProgress(s, len(policies)*len(p.PoolsMB)*len(p.Seeds))
	defer bar.end()
	p.Done = func(study.Key, *sim.Result) error {
		bar.add()
		return nil
	}
	return study.Run(c.Context, p)
}
