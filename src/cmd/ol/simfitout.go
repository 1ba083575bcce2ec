package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/open-lambda/open-lambda/src/trace"
)

// write replaces the file at once.
func (j *fitJob) write() error {
	var text bytes.Buffer
	if err := trace.WriteWorkload(&text, j.name, j.found.Synthetic, &j.record); err != nil {
		return err
	}
	half := j.path + ".new"
	if err := os.WriteFile(half, text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write parameters: %w", err)
	}
	if err := os.Rename(half, j.path); err != nil {
		return fmt.Errorf("write parameters: %w", err)
	}
	return nil
}

// fitRow is a line of the table.
type fitRow struct {
	trace.Target
	what string
}

func (j *fitJob) print() {
	var rows []fitRow
	for _, t := range j.record.Targets {
		rows = append(rows, fitRow{t, "fitted"})
	}
	for _, t := range j.record.Others {
		rows = append(rows, fitRow{t, "not fitted"})
	}
	j.fitted([]column{
		named(figures("policy", 0, rows, func(r fitRow) any { return r.Policy })),
		named(figures("figure", 0, rows, func(r fitRow) any { return r.Figure + " %" })),
		figures("GB", 0, rows, func(r fitRow) any { return r.GB }),
		figures("paper", 0, rows, func(r fitRow) any { return fmt.Sprintf("%.1f", r.Paper) }),
		figures("here", 0, rows, func(r fitRow) any { return fmt.Sprintf("%.1f ±%.1f", r.Ours, r.Half) }),
		figures("difference", 0, rows, func(r fitRow) any { return fmt.Sprintf("%+.1f", r.Ours-r.Paper) }),
		named(figures("", 0, rows, func(r fitRow) any { return r.what })),
	}, nil, false)
	if j.record.Evaluations > 0 {
		j.prose("%s on %d minutes from %s; ended: %s. The figures above are those of the whole workload, %s.",
			plural(j.record.Evaluations, "evaluation", "evaluations"), j.record.Minutes, j.record.From, j.record.Ended, plural(len(j.seeds), "seed", "seeds"))
	}
	j.say("parameters written to %s", j.path)
}
