package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/open-lambda/open-lambda/policies/catalog"
	"github.com/open-lambda/open-lambda/src/sim/lesson"
	"github.com/open-lambda/open-lambda/src/sim/study"
)

func simLessonCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "lesson",
		Usage: "play a published lesson on keep-alive, number for number, and under other policies",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "policy", Usage: "`POLICIES` of the last table, separated by commas; all presets if empty"},
			wideFlag(),
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
	list := c.String("policy")
	if list == "" {
		list = strings.Join(catalog.Names(""), ",")
	}
	chosen, err := simPolicies(list, lesson.DefaultCold)
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
	printLesson(s, report, c.Bool("wide"))
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

func printLesson(s streams, r lessonReport, wide bool) {
	s.prose("One function, 1,800 s, at most %d instances; a call takes 400 ms, a cold call 900 ms more. "+
		"Times in ms, idle instances in instance-seconds; wait: the longest; most: instances at once.", lesson.MaxInstances)
	s.print("\n1. Three patterns of calls, instances kept for 300 s")
	var names []string
	var rows []lesson.Row
	for _, p := range lesson.Profiles() {
		if row, ok := r.Profiles[p.Name].(lesson.Row); ok {
			names, rows = append(names, p.Name), append(rows, row)
		}
	}
	s.fitted(lessonColumns(names, rows), nil, wide)
	s.print("\n2. How long to keep an instance: cold calls and idle instances")
	s.fitted(scanColumns(r.LifetimeScan), nil, wide)
	s.print("\n3. What can be done about cold starts (bursty)")
	s.fitted(pathColumns(r.Mitigation), nil, wide)
	s.print("\n4. The same calls under other policies")
	s.fitted(policyColumns(r.Policies), nil, wide)
	s.prose("Memory is not short here: who evicts only for memory keeps every instance to the end.")
}

// policyColumns has a row for each policy and three columns for each pattern.
func policyColumns(policies []lessonPolicy) []column {
	all := []column{named(figures("policy", 0, policies, func(p lessonPolicy) any { return p.Policy }))}
	for i, profile := range lesson.Profiles() {
		of := func(figure func(lesson.Row) any) func(lessonPolicy) any {
			return func(p lessonPolicy) any { return figure(p.Profiles[profile.Name]) }
		}
		idle, mean := [...]int{3, 2, 0}[i], [...]int{1, 0, 0}[i] // bursts tell most
		all = append(
			all,
			figures(profile.Name+"\ncold", 0, policies, of(func(r lesson.Row) any { return r.Cold })),
			figures(profile.Name+"\nmean", mean, policies, of(func(r lesson.Row) any { return r.MeanMS })),
			figures(profile.Name+"\nidle", idle, policies, of(func(r lesson.Row) any { return r.IdleS })),
		)
	}
	return all
}

// figures makes a column of a figure of each element.
func figures[T any](head string, rank int, all []T, of func(T) any) column {
	c := column{head: head, rank: rank}
	for _, x := range all {
		c.cells = append(c.cells, of(x))
	}
	return c
}

func named(c column) column {
	c.left = true
	return c
}

func fixed(decimals int, v float64) string { return strconv.FormatFloat(v, 'f', decimals, 64) }

func lessonColumns(names []string, rows []lesson.Row) []column {
	return []column{
		named(figures("pattern", 0, names, func(n string) any { return n })),
		figures("calls", 2, rows, func(r lesson.Row) any { return r.Calls }),
		figures("cold", 0, rows, func(r lesson.Row) any { return r.Cold }),
		figures("cold %", 0, rows, func(r lesson.Row) any { return fixed(2, r.ColdPct) }),
		figures("mean", 0, rows, func(r lesson.Row) any { return r.MeanMS }),
		figures("p99", 0, rows, func(r lesson.Row) any { return r.P99MS }),
		figures("queued", 0, rows, func(r lesson.Row) any { return r.Queued }),
		figures("wait", 0, rows, func(r lesson.Row) any { return r.LongestMS }),
		figures("most", 1, rows, func(r lesson.Row) any { return r.Most }),
		figures("idle", 0, rows, func(r lesson.Row) any { return r.IdleS }),
	}
}

func scanColumns(scan []lesson.Scan) []column {
	all := []column{named(figures("kept", 0, scan, func(l lesson.Scan) any { return time.Duration(l.LifetimeS) * time.Second }))}
	for _, p := range []struct {
		name string
		of   func(lesson.Scan) [2]float64
	}{
		{"sparse", func(l lesson.Scan) [2]float64 { return l.Sparse }},
		{"regular", func(l lesson.Scan) [2]float64 { return l.Regular }},
		{"bursty", func(l lesson.Scan) [2]float64 { return l.Bursty }},
	} {
		all = append(
			all,
			figures(p.name+"\ncold %", 0, scan, func(l lesson.Scan) any { return fixed(2, p.of(l)[0]) }),
			figures("\nidle", 0, scan, func(l lesson.Scan) any { return p.of(l)[1] }),
		)
	}
	return append(
		all,
		figures("bursty\nqueued", 0, scan, func(l lesson.Scan) any { return l.BurstyQueued }),
		figures("bursty\nmean", 0, scan, func(l lesson.Scan) any { return l.BurstyMeanMS }),
	)
}

func pathColumns(paths []lesson.Path) []column {
	return []column{
		named(figures("path", 0, paths, func(p lesson.Path) any { return p.Path })),
		figures("cold", 3, paths, func(p lesson.Path) any { return p.Cold }),
		figures("cold %", 0, paths, func(p lesson.Path) any { return fixed(2, p.ColdPct) }),
		figures("mean", 0, paths, func(p lesson.Path) any { return fixed(1, p.MeanMS) }),
		figures("p99", 0, paths, func(p lesson.Path) any { return p.P99MS }),
		figures("queued", 2, paths, func(p lesson.Path) any { return p.Queued }),
		figures("idle", 1, paths, func(p lesson.Path) any { return p.IdleS }),
		figures("cost", 0, paths, func(p lesson.Path) any { return fixed(2, p.Cost) }),
		figures("gain", 0, paths, func(p lesson.Path) any { return fixed(1, p.GainMS) }),
		figures("cost\nper ms", 0, paths, func(p lesson.Path) any {
			if p.CostPerMS == nil {
				return "-"
			}
			return fixed(3, *p.CostPerMS)
		}),
	}
}
