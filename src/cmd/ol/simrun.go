package main

import (
	"errors"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/policies/placement"
	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/sim/study"
	"github.com/open-lambda/open-lambda/src/trace"
)

func simRunCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "run",
		Usage: "compare policies over memory sizes and seeds",
		Description: "Every policy is simulated with every memory size and every seed.\n\n" +
			"  ol sim run --trace s1 --policy ttl,cidre --mem 10,20 --seeds 5\n\n" +
			"A policy may carry parameters: ttl:ttl=60s, cidre:window=5m:td=completed,\n" +
			"lru:scaler=bss. The cache is warmed by one replay before the one that counts.",
		Flags: append(traceFlags(),
			&cli.StringFlag{Name: "policy", Usage: "`POLICIES` to compare, separated by commas; see ol policy list", Value: "ttl,faascache,cidre"},
			&cli.StringFlag{Name: "mem", Usage: "memory of a node in `GB`, several separated by commas", Value: "20"},
			&cli.IntFlag{Name: "nodes", Usage: "`N` nodes, each with that memory", Value: 1},
			&cli.StringFlag{Name: "placer", Usage: "how requests are spread over nodes: " + strings.Join(placement.Names(), ", "), Value: "hash"},
			&cli.IntFlag{Name: "seeds", Usage: "runs with `N` different seeds", Value: 1},
			&cli.BoolFlag{Name: "no-warmup", Usage: "begin with an empty cache"},
			&cli.IntFlag{Name: "start-slots", Usage: "starts in progress at a time; 0 is no limit"},
			&cli.IntFlag{Name: "concurrency", Usage: "requests that a sandbox serves at a time", Value: 1},
			&cli.IntFlag{Name: "languages", Usage: "languages that functions are spread over, for rainbowcake", Value: 3},
			&cli.DurationFlag{Name: "destroy", Usage: "time from the decision to destroy a sandbox to its memory being free"},
			&cli.Float64Flag{Name: "fail-starts", Usage: "share of starts that fail by the host's fault", Action: within("fail-starts", 0, 1)},
			&cli.Float64Flag{Name: "die", Usage: "share of requests whose sandbox dies", Action: within("die", 0, 1)},
			&cli.Float64Flag{Name: "slow-destroys", Usage: "share of destroys that take a second longer", Action: within("slow-destroys", 0, 1)},
			&cli.StringFlag{Name: "out", Usage: "write runs.csv, summary.csv, memory.csv and results.json into `DIR`"},
			&cli.BoolFlag{Name: "records", Usage: "with --out: write a row for each request of each run as well"},
			&cli.IntFlag{Name: "parallel", Usage: "runs at a time; 0 takes one for each core"},
			wideFlag(),
			jsonFlag(),
		),
		Action: func(c *cli.Context) error { return simRun(s, c) },
	}
}

// wideFlag is that of commands whose tables may not fit.
func wideFlag() *cli.BoolFlag {
	return &cli.BoolFlag{Name: "wide", Usage: "print all columns, however wide the terminal is"}
}

func simRun(s streams, c *cli.Context) error {
	if err := wantArgs(c, 0, 0, "--trace s1 --policy ttl,cidre --mem 10,20"); err != nil {
		return err
	}
	plan, t, err := simPlan(s, c)
	if err != nil {
		return err
	}
	out, err := newOutputs(s, c.String("out"))
	if err != nil {
		return fail(codeUsage, "prepare results", err, "")
	}
	defer out.abort()
	plan.Hooks = func(k study.Key, cfg *sim.Config) error {
		if cfg.Placer, err = placement.New(c.String("placer"), k.Seed); err != nil || !c.Bool("records") {
			return err
		}
		return out.records(k, cfg)
	}
	bar := newProgress(s, len(plan.Policies)*len(plan.PoolsMB)*len(plan.Seeds))
	plan.Done = func(k study.Key, _ *sim.Result) error {
		bar.add()
		return out.recorded(k)
	}
	cells, err := study.Run(c.Context, plan)
	bar.end()
	if err != nil {
		return simFailure("simulate", err)
	}
	report := newReport(t, plan, cells)
	failed := out.study(report, cells)
	if failed != nil {
		failed = out.failed(failed)
	}
	if c.Bool("json") {
		return errors.Join(failed, s.printJSON(report))
	}
	printStudy(s, report, c.Bool("wide"))
	if failed == nil {
		out.tell(s)
	}
	return failed
}

// simPlan reads the command line.
func simPlan(s streams, c *cli.Context) (study.Plan, traceChoice, error) {
	t, err := chosenTrace(s, c)
	if err != nil {
		return study.Plan{}, t, err
	}
	p := study.Plan{
		Base: sim.Config{
			Nodes: c.Int("nodes"), Languages: c.Int("languages"), Slots: c.Int("concurrency"), Warmup: !c.Bool("no-warmup"), StartSlots: c.Int("start-slots"), Destroy: c.Duration("destroy"),
			Faults: sim.Faults{
				StartHost: c.Float64("fail-starts"), Die: c.Float64("die"),
				SlowDestroy: c.Float64("slow-destroys"), SlowBy: slowBy,
			},
		},
		Workload: func(seed uint64) (trace.Workload, error) { return t.workload(seed) },
		Parallel: c.Int("parallel"),
	}
	if p.Parallel <= 0 {
		p.Parallel = runtime.GOMAXPROCS(0)
	}
	if err := simDeaf(c); err != nil {
		return p, t, err
	}
	if _, err := placement.New(c.String("placer"), 1); err != nil {
		return p, t, fail(codeUsage, "choose placer", err, "")
	}
	if c.Int("nodes") < 1 || c.Int("concurrency") < 1 || c.Int("languages") < 0 {
		return p, t, usage("", "--nodes and --concurrency must be at least 1, --languages not negative")
	}
	if c.Int("seeds") < 1 || c.Int("start-slots") < 0 || c.Duration("destroy") < 0 {
		return p, t, usage("", "--seeds must be at least 1, --start-slots and --destroy not negative")
	}
	if c.Bool("records") && c.String("out") == "" {
		return p, t, usage("", "--records needs --out DIR")
	}
	for i := range c.Int("seeds") {
		p.Seeds = append(p.Seeds, t.o.Seed+uint64(i))
	}
	if p.PoolsMB, err = poolSizes(c.String("mem")); err != nil {
		return p, t, err
	}
	if err := p.Base.Faults.Check(); err != nil {
		return p, t, fail(codeUsage, "choose faults", err, "")
	}
	p.Policies, err = simPolicies(c.String("policy"), t.m.ColdPerMB)
	return p, t, err
}

// simDeaf refuses flags that change nothing of what is simulated.
func simDeaf(c *cli.Context) error {
	if c.Int("nodes") == 1 {
		if err := ignored(c, []string{"placer"}, "there is one node", "simulate several: --nodes 3"); err != nil {
			return err
		}
	}
	if strings.Contains(c.String("policy"), "rainbowcake") {
		return nil
	}
	return ignored(c, []string{"languages"}, "none of the policies goes by languages", "simulate one that does: --policy rainbowcake")
}

func simPolicies(list string, coldPerMB time.Duration) ([]study.Policy, error) {
	var all []study.Policy
	for text := range strings.SplitSeq(list, ",") {
		p, err := study.ParsePolicy(strings.TrimSpace(text), coldPerMB)
		if err != nil {
			return nil, simFailure("choose policy "+text, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// poolSizes reads GB (decimal) and returns MB.
func poolSizes(list string) ([]int64, error) {
	var all []int64
	for text := range strings.SplitSeq(list, ",") {
		gb, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if mb := gb * mbPerGB; err == nil && mb >= 1 && mb < math.MaxInt32*float64(mbPerGB) {
			all = append(all, int64(math.Round(mb)))
			continue
		}
		return nil, usage("for instance: --mem 80,100,120", "--mem %s: %q is no memory size in GB", list, text)
	}
	return all, nil
}
