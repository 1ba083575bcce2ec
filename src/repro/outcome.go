package repro

import (
	"fmt"
	"slices"
)

// Outcome is a reproduced figure.
type Outcome struct {
	Figure
	*Report
	Judged []Judged
	Builds []string // other programs that measured on real sandboxes
	drawn  Cost
}

// Reproduce draws figures from data and judges their claims.
func Reproduce(figures []Figure, d *Data) ([]Outcome, error) {
	var all []Outcome
	for _, f := range figures {
		o := Outcome{Figure: f}
		cost, err := spent(func() error { return o.draw(d) })
		if err != nil {
			return nil, fmt.Errorf("draw %s: %w", f.ID, err)
		}
		o.drawn = cost
		all = append(all, o)
	}
	return all, nil
}

func (o *Outcome) draw(d *Data) (err error) {
	if o.Report, err = o.Draw(d); err != nil {
		return err
	}
	for _, c := range o.Claims(d.Scene) {
		o.Judged = append(o.Judged, c.judge(o.ID, d))
	}
	return nil
}

// AllJudged lists the claims of all outcomes.
func AllJudged(all []Outcome) []Judged {
	var js []Judged
	for _, o := range all {
		js = append(js, o.Judged...)
	}
	return js
}

// Verdicts lists all in the order in which they are shown.
func Verdicts() []Verdict { return []Verdict{Pass, Fail, Fitted, NotTestable} }

// Count counts a verdict.
func Count(all []Judged, v Verdict) int {
	n := 0
	for _, j := range all {
		if j.Verdict == v {
			n++
		}
	}
	return n
}

// Notes are what must be said with every result of a scene: how the workloads
// came about.
func (s Scene) Notes() ([]string, error) {
	var notes []string
	for _, name := range []string{s.Azure, s.FC} {
		w, err := FindWorkload(name)
		if err != nil {
			return nil, err
		}
		if n := w.Source.Note; n != "" && !slices.Contains(notes, n) {
			notes = append(notes, n)
		}
	}
	if s.OneTrace {
		notes = append(notes, "a workload is one recorded trace, which no seed changes: values have no interval")
	}
	if s.Minutes > 0 {
		notes = append(notes, fmt.Sprintf("only the first %d minutes of each workload are simulated; intervals are wider than those of the full run", s.Minutes))
	}
	return notes, nil
}
