package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/open-lambda/open-lambda/src/replay"
	"github.com/open-lambda/open-lambda/src/replay/validate"
)

// label names a case.
func label(c *validate.Case) string {
	if c.Placer == "" {
		return c.Policy
	}
	return c.Policy + ", " + c.Placer
}

func printValidation(s streams, r *validationResult) {
	for i := range r.Cases {
		printCase(s, &r.Cases[i], r.Tolerance)
	}
	if len(r.Cases) > 1 {
		printCases(s, r.Cases)
	}
	for _, c := range r.Claims {
		s.print("%s  %s (%+.2f points)", verdictWord(c.Holds), c.Text, c.Measured)
	}
	s.prose("%d requests to %d lambdas of %s, time scaled by %.4g, %s with a pool of %d MB each; load %.1f, processors %.0f %% busy during the replays. The simulator and the workers begin empty.",
		r.Requests, r.Lambdas, r.Trace, r.Scale, plural(r.Nodes, "worker", "workers"), r.PoolMB, r.Environment.During.LoadMean, 100*max(r.Environment.During.CPUShare, 0))
}

func verdictWord(ok bool) string {
	if ok {
		return "PASS"
	}
	return "FAIL"
}

// printCase prints one case: both sides, and what is allowed between them.
func printCase(s streams, c *validate.Case, t validate.Tolerance) {
	tw := table.NewWriter()
	tw.SetStyle(table.StyleLight)
	tw.AppendHeader(table.Row{label(c), "measured", "simulated", "difference", "allowed", ""})
	for _, f := range validate.Compare(c, t) {
		tw.AppendRow(table.Row{f.Name, value(f.Measured, f.Unit), value(f.Simulated, f.Unit), fmt.Sprintf("%+.2f", f.Measured-f.Simulated), fmt.Sprintf("%.2f", f.Allowed), verdictWord(f.OK)})
	}
	s.print("%s", tw.Render())
	for _, line := range c.Causes.Sentences() {
		s.print("  %s", line)
	}
	if c.Incomplete {
		s.print("  The replay ended early: %d of %d requests are compared with a simulation of all.", c.Summary.Requests, c.Predicted.Requests)
	}
	s.print("  Issue drift %.2f %%, %.2f %% in the worst window.", 100*c.Drift.All, 100*c.Drift.Worst)
	s.print("")
}

func value(v float64, unit string) string {
	text := fmt.Sprintf("%.2f", v)
	if unit != "" {
		text += " " + unit
	}
	return text
}

// printCases prints all cases side by side, measured and simulated.
func printCases(s streams, cases []validate.Case) {
	tw := table.NewWriter()
	tw.SetStyle(table.StyleLight)
	tw.AppendHeader(table.Row{"", "cold", "simulated", "delayed", "simulated", "overhead", "simulated", "mean wait", "simulated", "balance", "simulated", "errors"})
	for i := range cases {
		c := &cases[i]
		u, p := c.Summary, c.Predicted
		part := func(n, of int) string { return fmt.Sprintf("%.2f %%", 100*float64(n)/float64(max(of, 1))) }
		tw.AppendRow(table.Row{
			label(c), part(u.Cold, u.Requests), part(p.Cold, p.Requests), part(u.Delayed, u.Requests), part(p.Delayed, p.Requests),
			fmt.Sprintf("%.2f %%", 100*u.OverheadRatio), fmt.Sprintf("%.2f %%", 100*p.OverheadRatio), inMS(u.Overhead.Mean), inMS(p.Overhead.Mean),
			fmt.Sprintf("%.2f", c.Spread.MaxOfMean), fmt.Sprintf("%.2f", replay.MaxOfMean(p.PerNode)), u.Errors,
		})
	}
	s.print("%s", tw.Render())
}

// judge is the end of a comparison that did not hold.
func judge(r *validationResult) error {
	wrong := 0
	for i := range r.Cases {
		for _, f := range validate.Compare(&r.Cases[i], r.Tolerance) {
			if !f.OK {
				wrong++
			}
		}
	}
	for _, c := range r.Claims {
		if !c.Holds {
			wrong++
		}
	}
	if wrong == 0 {
		return nil
	}
	return fail(codeClaim, plural(wrong, "figure or ordering is", "figures or orderings are")+" outside the tolerance", nil, "on a busy machine reality differs from any simulation: look at the load, and see docs/replay.md")
}

// writeValidation writes validate.json and validate.csv.
func writeValidation(out *outputs, r *validationResult) error {
	if out.dir == "" {
		return nil
	}
	err := out.write("validate.json", func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(r)
	})
	if err != nil {
		return err
	}
	rows := [][]string{{"policy", "placer", "figure", "unit", "measured", "simulated", "allowed", "ok"}}
	for i := range r.Cases {
		c := &r.Cases[i]
		for _, f := range validate.Compare(c, r.Tolerance) {
			rows = append(rows, []string{c.Policy, c.Placer, f.Name, f.Unit, digits(f.Measured), digits(f.Simulated), digits(f.Allowed), strconv.FormatBool(f.OK)})
		}
	}
	if err := out.write("validate.csv", func(w io.Writer) error { return writeRows(w, rows) }); err != nil {
		return err
	}
	return out.commit()
}
