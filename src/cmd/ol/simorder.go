package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/sim"
	"github.com/open-lambda/open-lambda/src/sim/study"
	"github.com/open-lambda/open-lambda/src/trace"
)

func simOrderCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "orderings",
		Usage: "check which orderings of the paper hold on its kind of workload",
		Description: "The paper's traces were not published. Its orderings at 100 GB are checked on S2 with the\n" +
			"paper's memory per request, for three models of the seconds inside a minute, and on\n" +
			"workloads generated to its size. With 5 seeds this takes a quarter of an hour of one core.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "seeds", Usage: "runs with `N` different seeds, at least 2", Value: 5},
			&cli.StringFlag{Name: "workloads", Usage: "some of " + strings.Join(orderNames(), ", "), Value: strings.Join(orderNames(), ",")},
			&cli.Float64Flag{Name: "mem", Usage: "memory of the node in `GB`", Value: 100},
			&cli.IntFlag{Name: "parallel", Usage: "runs at a time; 0 takes one for each core"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error { return simOrder(s, c) },
	}
}

func orderNames() []string {
	return []string{"s2-sigma0", "s2-sigma1", "s2-sigma2", "azure-like", "fc-like"}
}

// orderReport is what one workload says about the claims.
type orderReport struct {
	Workload string         `json:"workload"`
	Note     string         `json:"note"`
	Claims   []study.Judged `json:"claims"`
}

func simOrder(s streams, c *cli.Context) error {
	if err := wantArgs(c, 0, 0, "--seeds 5"); err != nil {
		return err
	}
	if c.Int("seeds") < 2 {
		return usage("", "--seeds must be at least 2: one seed has no interval")
	}
	pools, err := poolSizes(fmt.Sprint(c.Float64("mem")))
	if err != nil {
		return err
	}
	claims := study.PaperClaims()
	policies, err := simPolicies(strings.Join(study.Policies(claims), ","), trace.DefaultModel().ColdPerMB)
	if err != nil {
		return err
	}
	var reports []orderReport
	for name := range strings.SplitSeq(c.String("workloads"), ",") {
		t, err := orderWorkload(name)
		if err != nil {
			return err
		}
		cells, err := orderCells(s, c, t, pools, policies)
		if err != nil {
			return simFailure("simulate "+name, err)
		}
		reports = append(reports, orderReport{name, t.source.Note, study.Judge(claims, cells)})
	}
	if c.Bool("json") {
		return s.printJSON(reports)
	}
	printOrder(s, c, reports)
	return nil
}

func orderWorkload(name string) (traceChoice, error) {
	t := traceChoice{m: trace.DefaultModel()}
	source := name
	if sigma, ok := strings.CutPrefix(name, "s2-sigma"); ok && len(sigma) == 1 {
		source = "s2"
		t.o.Sigma = float64(sigma[0] - '0')
		t.o.MaxExec, t.m.MemScale = paperExecCap, paperMemScale
	}
	var known bool
	var err error
	t.source, known, err = trace.Named(source)
	if err == nil && !known {
		err = usage("known: "+strings.Join(orderNames(), ", "), "there is no workload %q", name)
	}
	return t, err
}

func orderCells(s streams, c *cli.Context, t traceChoice, pools []int64, policies []study.Policy) ([]study.Cell, error) {
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
	bar := newProgress(s, len(policies)*len(p.Seeds))
	defer bar.end()
	p.Done = func(study.Key, *sim.Result) error {
		bar.add()
		return nil
	}
	return study.Run(c.Context, p)
}

// printOrder prints a row for each claim and a column for each workload.
func printOrder(s streams, c *cli.Context, reports []orderReport) {
	s.print("Orderings of the paper at %v GB, %d seeds: difference in percentage points ± 95 %% interval,", c.Float64("mem"), c.Int("seeds"))
	s.print("seeds compared in pairs.")
	for _, r := range reports {
		if r.Note != "" {
			s.print("%s: %s.", r.Workload, r.Note)
		}
	}
	head := table.Row{"claim", "figure", "source"}
	for _, r := range reports {
		head = append(head, r.Workload)
	}
	t := plainTable(head, 3)
	for i, claim := range reports[0].Claims {
		row := table.Row{claim.Less + " < " + claim.More, claim.Figure, claim.Source}
		for _, r := range reports {
			j := r.Claims[i]
			row = append(row, fmt.Sprintf("%s %.2f ±%.2f", j.Verdict, j.Difference.Mean, j.Difference.Half))
		}
		t.AppendRow(row)
	}
	s.print("%s", t.Render())
	for _, r := range reports {
		n := map[study.Verdict]int{}
		for _, j := range r.Claims {
			n[j.Verdict]++
		}
		s.print("%s: %d of %d hold, %d are reversed, %d undecided",
			r.Workload, n[study.Holds], len(r.Claims), n[study.Reversed], n[study.Undecided])
	}
}
