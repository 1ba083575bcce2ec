package main

import (
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/sim/study"
	"github.com/open-lambda/open-lambda/src/trace"
)

// paperWorkload is one of those that ship with the project, those of per-minute
// counts as sN-sigmaS, with the paper's memory and execution.
func paperWorkload(name string) (traceChoice, error) {
	t := traceChoice{m: trace.DefaultModel()}
	source := name
	if base, sigma, ok := strings.Cut(name, "-sigma"); ok && len(sigma) == 1 && sigma[0] >= '0' && sigma[0] <= '2' {
		source = base
		t.o.Sigma = float64(sigma[0] - '0')
		t.o.MaxExec, t.m.MemScale = paperExecCap, paperMemScale
	}
	var known bool
	var err error
	t.source, known, err = trace.Named(source)
	switch {
	case err != nil:
		return t, fail(codeUsage, "choose workload", err, "")
	case !known || (t.source.Synthetic == nil) == (source == name):
		return t, usage("known: "+strings.Join(orderNames(), ", ")+", s1-sigma0, 1, 2, draw-1 to draw-99", "there is no workload %q", name)
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
