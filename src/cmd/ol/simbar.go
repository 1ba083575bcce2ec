package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/sim/study"
	"github.com/open-lambda/open-lambda/src/trace"
)

func simBarCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "bar",
		Usage: "hold a policy against CIDRE, LRU and the clairvoyant ones",
		Description: "The bar, over workloads and memory sizes: no worse than cidre and cidre-bss in\n" +
			"overhead and cold starts, nor than lru in overhead, beyond the 95 % interval;\n" +
			"better in both where cidre's overhead exceeds 2 %; half of the gap from cidre\n" +
			"to the best clairvoyant policy closed in the mean.\n\n" +
			"  ol sim bar --workloads s1-sigma1,draw-9 --mem 20,40 --out bar\n" +
			"  ol sim bar --from bar/bar.csv",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "policy", Usage: "the `POLICY` that is held against the bar", Value: "cidre+"},
			&cli.StringFlag{Name: "workloads", Usage: "`NAMES`: s1-sigma0, 1, 2, s2-sigma0, 1, 2, azure-like, fc-like, draw-1 to draw-99", Value: "s1-sigma1", DefaultText: "s1-sigma1"},
			&cli.StringFlag{Name: "mem", Usage: "memory of the node in `GB`, several separated by commas", Value: "30"},
			&cli.IntFlag{Name: "seeds", Usage: "runs with `N` different seeds, at least 2", Value: 5},
			&cli.IntFlag{Name: "minutes", Usage: "take the first `MINUTES` of each workload; 0 takes all"},
			&cli.IntFlag{Name: "parallel", Usage: "runs at a time; 0 takes one for each core"},
			&cli.StringFlag{Name: "out", Usage: "write bar.csv, a row for each run, into `DIR`"},
			&cli.StringFlag{Name: "from", Usage: "judge the runs of such a `FILE` instead of simulating"},
			wideFlag(),
			jsonFlag(),
		},
		Action: func(c *cli.Context) error { return simBar(s, c) },
	}
}

// barReport is how a policy stands everywhere.
type barReport struct {
	Policy string           `json:"policy"`
	Fields []study.Standing `json:"fields"`
	Closed study.Sample     `json:"gap_closed_pct"`
	Met    bool             `json:"met"` // everywhere, and half of both gaps closed
}

func simBar(s streams, c *cli.Context) error {
	if err := wantArgs(c, 0, 0, "--workloads s1-sigma1 --mem 20,30"); err != nil {
		return err
	}
	bar := study.DefaultBar()
	bar.Candidate = c.String("policy")
	rows, err := barRows(s, c, bar)
	if err != nil {
		return err
	}
	fields := barFields(bar, rows)
	if len(fields) == 0 {
		return usage("it needs "+strings.Join(bar.Policies(), ", ")+" with the same seeds, at least 2", "no workload has runs of all policies")
	}
	report := barReport{Policy: bar.Candidate}
	for _, f := range fields {
		report.Fields = append(report.Fields, bar.Judge(f))
	}
	closed := bar.Closed(report.Fields)
	report.Closed = study.Sample{Overhead: 100 * closed.Overhead, Cold: 100 * closed.Cold}
	report.Met = closed.Overhead >= bar.Gap && closed.Cold >= bar.Gap &&
		!slices.ContainsFunc(report.Fields, func(s study.Standing) bool { return !s.Met })
	if c.Bool("json") {
		return s.printJSON(report)
	}
	printBar(s, report, c.Bool("wide"))
	return nil
}

// barRows simulates, or reads what was simulated before.
func barRows(s streams, c *cli.Context, bar study.Bar) ([]barRow, error) {
	if from := c.String("from"); from != "" {
		made := []string{"workloads", "mem", "seeds", "minutes", "parallel", "out"}
		if err := ignored(c, made, "the runs of "+from+" were made before", ""); err != nil {
			return nil, err
		}
		rows, err := readBarRows(s.abs(from))
		if err != nil {
			return nil, fail(codeUsage, "read runs", err, "a file that --out has written is wanted")
		}
		return rows, nil
	}
	if c.Int("seeds") < 2 {
		return nil, usage("", "--seeds must be at least 2: one seed has no interval")
	}
	out, err := newOutputs(s, c.String("out"))
	if err != nil {
		return nil, fail(codeUsage, "prepare results", err, "")
	}
	defer out.abort()
	rows, err := barRuns(s, c, bar)
	if err != nil || out.dir == "" {
		return rows, err
	}
	if err := out.write("bar.csv", func(w io.Writer) error { return writeBarRows(w, rows) }); err != nil {
		return nil, out.failed(err)
	}
	if err := out.commit(); err != nil {
		return nil, out.failed(err)
	}
	out.tell(s)
	return rows, nil
}

func barRuns(s streams, c *cli.Context, bar study.Bar) ([]barRow, error) {
	pools, err := poolSizes(c.String("mem"))
	if err != nil {
		return nil, err
	}
	chosen, err := simPolicies(strings.Join(bar.Policies(), ","), trace.DefaultModel().ColdPerMB)
	if err != nil {
		return nil, err
	}
	var rows []barRow
	for name := range strings.SplitSeq(c.String("workloads"), ",") {
		t, err := paperWorkload(name)
		if err != nil {
			return nil, err
		}
		t.o.Minutes = c.Int("minutes")
		if _, err := t.workload(1); err != nil {
			return nil, fail(codeUsage, "make workload "+name, err, "")
		}
		cells, err := paperCells(s, c, t, pools, chosen)
		if err != nil {
			return nil, simFailure("simulate "+name, err)
		}
		for _, cell := range cells {
			for i, r := range cell.Runs {
				rows = append(rows, barRow{name, cell.PoolMB, cell.Policy, uint64(i + 1), study.NewSample(r), r.ActionHash})
			}
		}
	}
	return rows, nil
}

// printBar prints a row for each workload and memory size.
func printBar(s streams, r barReport, wide bool) {
	s.prose("%s against the bar. Overhead %% / cold starts %%, means over the seeds; best: of the clairvoyant policies, for each figure on its own.", r.Policy)
	s.fitted(barColumns(r), nil, wide)
	for _, f := range r.Fields {
		for _, d := range f.Demands {
			if !d.Met {
				s.prose("%s, %v GB: %s", f.Workload, float64(f.PoolMB)/mbPerGB, missedDemand(d))
			}
		}
	}
	printBeatOffline(s, r.Fields)
	s.print("Gap from cidre to the best clairvoyant closed: overhead %.0f %%, cold starts %.0f %%.", r.Closed.Overhead, r.Closed.Cold)
	s.print("The bar is %s.", metOrNot(r.Met))
}

func barColumns(r barReport) []column {
	all := []column{
		named(figures("workload", 0, r.Fields, func(f study.Standing) any { return f.Workload })),
		figures("GB", 0, r.Fields, func(f study.Standing) any { return float64(f.PoolMB) / mbPerGB }),
	}
	for _, policy := range []string{"cidre", "cidre-bss", "lru", r.Policy} {
		c := figures(policy, 0, r.Fields, func(f study.Standing) any { return bothFigures(f.Means[policy]) })
		if policy == "lru" {
			c.rank = 1
		}
		all = append(all, c)
	}
	return append(
		all,
		figures("best", 0, r.Fields, func(f study.Standing) any { return bothFigures(f.Best) }),
		figures("bar", 0, r.Fields, func(f study.Standing) any { return metOrNot(f.Met) }),
	)
}

func printBeatOffline(s streams, fields []study.Standing) {
	for _, f := range fields {
		if len(f.BeatOffline) > 0 {
			s.prose("%s, %v GB: less overhead than the paper's offline: %s",
				f.Workload, float64(f.PoolMB)/mbPerGB, strings.Join(f.BeatOffline, ", "))
		}
	}
}

func bothFigures(v study.Sample) string { return fmt.Sprintf("%.1f/%.1f", v.Overhead, v.Cold) }

func metOrNot(met bool) string {
	if met {
		return "met"
	}
	return "missed"
}

func missedDemand(d study.Demand) string {
	asked := "no worse"
	if d.Better {
		asked = "better"
	}
	return fmt.Sprintf("missed: %s in %s than %s; it is lower by %.2f ±%.2f points",
		asked, d.Figure, d.Than, d.Difference.Mean, d.Difference.Half)
}
