package main

import (
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/sim/story"
	"github.com/open-lambda/open-lambda/src/sim/study"
	"github.com/open-lambda/open-lambda/src/trace"
)

func simExplainCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "explain",
		Usage: "tell in words what a policy does with a small scenario",
		Description: "The scenario is a burst of four requests at one warm sandbox (the CIDRE paper's\n" +
			"Fig. 4), or --scenario FILE with a row t_ms,function,exec_ms,mem_mb,cold_ms per call.\n" +
			"Run it under several policies and compare: cidre, cidre-bss, lru, queue-length.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "policy", Usage: "the `POLICY`", Value: "cidre"},
			&cli.StringFlag{Name: "scenario", Usage: "read the calls from `FILE`"},
			&cli.Float64Flag{Name: "mem", Usage: "memory of the node in `GB`", Value: 1},
			&cli.IntFlag{Name: "most", Usage: "refuse scenarios with more calls, they are not for reading", Value: 200},
		},
		Action: func(c *cli.Context) error { return simExplain(s, c) },
	}
}

func simExplain(s streams, c *cli.Context) error {
	if err := wantArgs(c, 0, 0, "--policy cidre"); err != nil {
		return err
	}
	scenario, err := chosenScenario(s, c)
	if err != nil {
		return err
	}
	pools, err := poolSizes(c.String("mem"))
	if err != nil {
		return err
	}
	scenario.PoolMB = pools[0]
	p, err := study.ParsePolicy(c.String("policy"), 1700*time.Microsecond)
	if err != nil {
		return simFailure("choose policy", err)
	}
	scenario.Policy, scenario.Future = p.New, p.Future
	s.print("%s, under %s", scenario.Title, p.Label)
	res, err := story.Tell(c.Context, s.out, scenario)
	if err != nil {
		return simFailure("explain", err)
	}
	s.print("%d requests: %d warm, %d delayed, %d cold; they waited %.1f ms on average, overhead ratio %.1f %%; %s",
		res.Arrived, res.Warm, res.Delayed, res.Cold, res.Wait.Mean, 100*res.Overhead,
		plural(int(res.Starts), "sandbox started", "sandboxes started"))
	return nil
}

func chosenScenario(s streams, c *cli.Context) (story.Scenario, error) {
	path := c.String("scenario")
	if path == "" {
		return story.Burst(), ignored(c, []string{"most"}, "the burst has four requests", "read calls from a file: --scenario FILE")
	}
	source, err := loadTrace(s, path)
	if err != nil {
		return story.Scenario{}, err
	}
	w, err := source.Workload(trace.Options{Seed: 1}, trace.DefaultModel())
	if err != nil {
		return story.Scenario{}, fail(codeUsage, "make workload", err, "")
	}
	functions, calls, err := trace.Collect(w)
	if err != nil {
		return story.Scenario{}, simFailure("read scenario", err)
	}
	if most := c.Int("most"); len(calls) > most {
		return story.Scenario{}, usage("simulate it: ol sim run --trace "+path, "%s has %d calls, more than the %d that can be read; raise --most", path, len(calls), most)
	}
	return story.Scenario{Title: filepath.Base(path), Functions: functions, Calls: calls}, nil
}
