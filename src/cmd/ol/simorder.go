package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/repro"
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
	claims := repro.Orderings()
	policies, err := simPolicies(strings.Join(study.Policies(claims), ","), trace.DefaultModel().ColdPerMB)
	if err != nil {
		return err
	}
	var reports []orderReport
	for name := range strings.SplitSeq(c.String("workloads"), ",") {
		t, err := paperWorkload(name)
		if err != nil {
			return err
		}
		cells, err := paperCells(s, c, t, pools, policies)
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

// printOrder prints a table for each workload.
func printOrder(s streams, c *cli.Context, reports []orderReport) {
	s.prose("Orderings of the paper at %v GB, %d seeds: difference in percentage points ± 95 %% interval, seeds compared in pairs.", c.Float64("mem"), c.Int("seeds"))
	for _, r := range reports {
		s.print("\n%s", r.Workload)
		if r.Note != "" {
			s.prose("%s.", r.Note)
		}
		s.fitted(orderColumns(r.Claims), nil, false)
	}
	s.print("")
	for _, r := range reports {
		n := map[study.Verdict]int{}
		for _, j := range r.Claims {
			n[j.Verdict]++
		}
		s.print("%s: %d of %d hold, %d are reversed, %d undecided",
			r.Workload, n[study.Holds], len(r.Claims), n[study.Reversed], n[study.Undecided])
	}
}

// orderColumns has a row for each claim.
func orderColumns(claims []study.Judged) []column {
	short := func(policy string) string { return strings.TrimPrefix(policy, "css:scaler=") } // css-literal, which has no preset
	return []column{
		named(figures("claim", 0, claims, func(j study.Judged) any { return short(j.Less) + " < " + short(j.More) })),
		named(figures("figure", 0, claims, func(j study.Judged) any { return j.Figure })),
		named(figures("source", 1, claims, func(j study.Judged) any { return j.Source })),
		named(figures("verdict", 0, claims, func(j study.Judged) any { return j.Verdict })),
		figures("difference", 0, claims, func(j study.Judged) any {
			return fmt.Sprintf("%.2f ±%.2f", j.Difference.Mean, j.Difference.Half)
		}),
	}
}
