package main

import (
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/src/sim/lesson"
	"github.com/open-lambda/open-lambda/src/sim/study"
)

func simLessonCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "lesson",
		Usage: "play a published lesson on keep-alive, number for number, and under other policies",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "policy", Usage: "`POLICIES` of the last table, separated by commas", Value: "ttl:ttl=60s,lru,queue-length,rainbowcake,knative,ensure,cidre-bss,cidre,cidre+"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error { return simLesson(s, c) },
	}
}

// lessonReport is the lesson and what other policies make of its calls.
type lessonReport struct {
	lesson.Tables
	Policies []lessonPolicy `json:"policies"`
}

type lessonPolicy struct {
	Policy   string                `json:"policy"`
	Profiles map[string]lesson.Row `json:"profiles"`
}

func simLesson(s streams, c *cli.Context) error {
	if err := wantArgs(c, 0, 0, ""); err != nil {
		return err
	}
	chosen, err := simPolicies(c.String("policy"), lesson.DefaultCold)
	if err != nil {
		return err
	}
	tables, err := lesson.Make(c.Context)
	if err != nil {
		return simFailure("play the lesson", err)
	}
	report := lessonReport{Tables: tables}
	for _, p := range chosen {
		rows, err := lessonUnder(c, p)
		if err != nil {
			return simFailure("play the lesson under "+p.Label, err)
		}
		report.Policies = append(report.Policies, lessonPolicy{p.Label, rows})
	}
	if c.Bool("json") {
		return s.printJSON(report)
	}
	printLesson(s, report)
	return nil
}

func lessonUnder(c *cli.Context, p study.Policy) (map[string]lesson.Row, error) {
	rows := map[string]lesson.Row{}
	for _, profile := range lesson.Profiles() {
		setup := lesson.Default(profile)
		setup.Policy, setup.Future = p.New, p.Future
		o, err := lesson.Run(c.Context, setup)
		if err != nil {
			return nil, err
		}
		rows[profile.Name] = o.Row()
	}
	return rows, nil
}

// plainTable is a table in the style of all of them.
func plainTable(head table.Row, left int) table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.AppendHeader(head)
	var columns []table.ColumnConfig
	for i := left; i < len(head); i++ {
		columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	return t
}

func printLesson(s streams, r lessonReport) {
	s.print("One function, 1,800 s, at most %d instances; a call takes 400 ms, a cold call 900 ms more.", lesson.MaxInstances)
	s.print("\n1. Three patterns of calls, instances kept for 300 s")
	t := lessonTable("pattern")
	for _, p := range lesson.Profiles() {
		if row, ok := r.Profiles[p.Name].(lesson.Row); ok {
			t.AppendRow(lessonCells(p.Name, row))
		}
	}
	s.print("%s", t.Render())
	s.print("\n2. How long to keep an instance: cold rate and idle instance-seconds")
	printScan(s, r.LifetimeScan)
	s.print("\n3. What can be done about cold starts (bursty)")
	printPaths(s, r.Mitigation)
	s.print("\n4. The same calls under other policies (bursty; memory is not short, so who only evicts for memory keeps all)")
	t = lessonTable("policy")
	for _, p := range r.Policies {
		t.AppendRow(lessonCells(p.Policy, p.Profiles["bursty"]))
	}
	s.print("%s", t.Render())
	s.print("All three patterns: --json.")
}

func lessonTable(first string) table.Writer {
	return plainTable(table.Row{first, "calls", "cold", "cold %", "latency ms", "p99 ms", "queued", "longest wait", "instances", "idle s"}, 1)
}

func lessonCells(name string, r lesson.Row) table.Row {
	return table.Row{name, r.Calls, r.Cold, fmt.Sprintf("%.2f", r.ColdPct), r.MeanMS, r.P99MS, r.Queued, r.LongestMS, r.Most, r.IdleS}
}

func printScan(s streams, scan []lesson.Scan) {
	t := plainTable(table.Row{"lifetime", "sparse %", "idle s", "regular %", "idle s", "bursty %", "idle s", "queued", "latency ms"}, 1)
	for _, l := range scan {
		row := table.Row{time.Duration(l.LifetimeS) * time.Second}
		for _, v := range [][2]float64{l.Sparse, l.Regular, l.Bursty} {
			row = append(row, fmt.Sprintf("%.2f", v[0]), v[1])
		}
		t.AppendRow(append(row, l.BurstyQueued, l.BurstyMeanMS))
	}
	s.print("%s", t.Render())
}

func printPaths(s streams, paths []lesson.Path) {
	t := plainTable(table.Row{"path", "cold", "cold %", "latency ms", "p99 ms", "queued", "idle s", "cost", "gain ms", "cost per ms"}, 1)
	for _, p := range paths {
		per := "-"
		if p.CostPerMS != nil {
			per = fmt.Sprintf("%.3f", *p.CostPerMS)
		}
		t.AppendRow(table.Row{
			p.Path, p.Cold, fmt.Sprintf("%.2f", p.ColdPct), fmt.Sprintf("%.1f", p.MeanMS), p.P99MS, p.Queued, p.IdleS,
			fmt.Sprintf("%.2f", p.Cost), fmt.Sprintf("%.1f", p.GainMS), per,
		})
	}
	s.print("%s", t.Render())
}
