package main

import (
	"strings"

	"github.com/open-lambda/open-lambda/src/repro"
)

// reproJSON is the answer for programs.
type reproJSON struct {
	Scene  repro.Scene           `json:"scene"`
	Counts map[repro.Verdict]int `json:"counts"`
	Claims []repro.Judged        `json:"claims"`
}

func reproReport(scene repro.Scene, judged []repro.Judged) reproJSON {
	r := reproJSON{Scene: scene, Counts: map[repro.Verdict]int{}, Claims: judged}
	for _, v := range repro.Verdicts() {
		r.Counts[v] = repro.Count(judged, v)
	}
	return r
}

// printVerdicts prints a line for each claim.
func printVerdicts(s streams, all []repro.Outcome) {
	for _, o := range all {
		s.print("%s: %s", o.Where, o.Title)
		for _, j := range o.Judged {
			line := j.Text + ": " + j.Value + "; paper " + j.Paper
			if j.Tolerance != "-" {
				line += ", tolerated " + j.Tolerance
			}
			if j.Why != "" {
				line += " (" + j.Why + ")"
			}
			s.print("  %-12s %s", j.Verdict, line)
		}
	}
	s.print("%s", reproSummary(repro.AllJudged(all)))
}

func reproSummary(judged []repro.Judged) string {
	var parts []string
	for _, v := range repro.Verdicts() {
		parts = append(parts, plural(repro.Count(judged, v), string(v), string(v)))
	}
	return plural(len(judged), "claim", "claims") + ": " + strings.Join(parts, ", ")
}
