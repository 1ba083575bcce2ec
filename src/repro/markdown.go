package repro

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/open-lambda/open-lambda/src/sim/study"
)

// markdown is a figure's page: what it was made on, ours beside the paper's,
// the claims.
func markdown(o *Outcome, s Scene, notes []string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s: %s\n\n", o.Where, o.Title)
	if !o.Beyond {
		fmt.Fprintf(&b, "The paper's values come from: %s. ", o.Ran)
	}
	fmt.Fprintf(&b, "Ours: %s.\n\n", origin(o, s))
	if o.Note != "" {
		fmt.Fprintf(&b, "%s\n\n", o.Note)
	}
	for _, p := range o.Text {
		fmt.Fprintf(&b, "%s\n\n", p)
	}
	if o.Points != nil {
		for _, n := range notes {
			fmt.Fprintf(&b, "- %s\n", n)
		}
		fmt.Fprintln(&b)
	}
	for _, t := range o.Tables {
		fmt.Fprintf(&b, "## %s\n\n", t.Title)
		mdTable(&b, append(append([]string(nil), t.Keys...), "ours", "paper", "difference"), tableCells(t))
	}
	if len(o.Judged) > 0 {
		fmt.Fprint(&b, "## Claims\n\n")
		mdTable(&b, []string{"claim", "where", "paper", "tolerated", "measured", "verdict"}, claimCells(o.Judged))
	}
	for _, c := range o.Charts {
		fmt.Fprintf(&b, "![%s](%s.svg)\n", c.Title, c.Name)
	}
	return b.Bytes()
}

// origin says where our values come from.
func origin(o *Outcome, s Scene) string {
	if o.Origin != "" {
		return o.Origin
	}
	if o.Points == nil {
		return "trace analysis, " + s.runs()
	}
	return "simulated. " + s.String()
}

func mdTable(b *bytes.Buffer, head []string, rows [][]string) {
	line := func(cells []string) {
		escaped := make([]string, len(cells))
		for i, c := range cells {
			escaped[i] = strings.ReplaceAll(c, "|", "\\|")
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(escaped, " | "))
	}
	line(head)
	fmt.Fprintf(b, "|%s\n", strings.Repeat("---|", len(head)))
	for _, r := range rows {
		line(r)
	}
	fmt.Fprintln(b)
}

func tableCells(t Table) [][]string {
	var rows [][]string
	for _, r := range t.Rows {
		theirs, difference := "", ""
		if !math.IsNaN(r.Paper) {
			theirs, difference = number(r.Paper), fmt.Sprintf("%+.1f", r.Ours.Mean-r.Paper)
		}
		if r.Fitted {
			difference += " (fitted)"
		}
		ours := interval(r.Ours)
		if r.Source != "" {
			ours += " (" + r.Source + ")"
		}
		rows = append(rows, append(append([]string(nil), r.Key...), ours, theirs, difference))
	}
	return rows
}

func claimCells(all []Judged) [][]string {
	var rows [][]string
	for _, j := range all {
		verdict := string(j.Verdict)
		if j.Why != "" {
			verdict += " (" + j.Why + ")"
		}
		rows = append(rows, []string{j.Text, j.Where, j.Paper, j.Tolerance, j.Value, verdict})
	}
	return rows
}

func interval(i study.Interval) string {
	if i.N < 2 || i.Half == 0 {
		return number(i.Mean)
	}
	return number(i.Mean) + " ± " + number(i.Half)
}
