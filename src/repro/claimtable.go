package repro

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// Judgement is what one directory of results says.
type Judgement struct {
	Name   string // of the column: "quick"
	Claims []Judged
}

// ReadJudgement reads the claims of a directory that Write wrote. It fails with
// a *MixedError if they were not made alike, and with an *OldError if nothing
// says how they were made.
func ReadJudgement(name, dir string) (Judgement, error) {
	j := Judgement{Name: name}
	sections, err := readSections(filepath.Join(dir, claimsName))
	if err != nil {
		return j, err
	}
	if m := mixture(sections); m != nil {
		return j, m
	}
	for i := range sections {
		j.Claims = append(j.Claims, sections[i].Claims...)
	}
	return j, nil
}

// claimKey names a claim.
type claimKey struct{ figure, text string }

// Causes are the letters of causes by claim.
type Causes map[claimKey]string

// Of is the letter of a claim's cause, empty if there is none.
func (c Causes) Of(figure, claim string) string { return c[claimKey{figure, claim}] }

// ReadCauses reads a table with the columns figure, claim and why.
func ReadCauses(from io.Reader) (Causes, error) {
	rows, err := csv.NewReader(from).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read causes: %w", err)
	}
	all := Causes{}
	for _, row := range rows[min(1, len(rows)):] {
		if len(row) != 3 {
			return nil, fmt.Errorf("read causes: a row has %d columns, not figure, claim and why", len(row))
		}
		all[claimKey{row[0], row[1]}] = row[2]
	}
	return all, nil
}

// WriteClaimTable writes all claims as a Markdown table with a column for each of the
// results, and says in the end how many hold in each. A claim that one of them
// does not have stays empty there. A cause is told where one of them fails, and what
// weakens a PASS.
func WriteClaimTable(to io.Writer, results []Judgement, causes Causes) error {
	var b strings.Builder
	head, rule := "| figure | claim | paper | tolerated |", "|---|---|---|---|"
	for _, r := range results {
		head, rule = head+" "+r.Name+" |", rule+"---|"
	}
	fmt.Fprintf(&b, "%s why |\n%s---|\n", head, rule)
	for _, k := range claimOrder(results) {
		b.WriteString(claimRow(k, results, causes))
	}
	b.WriteString("\n")
	for _, r := range results {
		var parts []string
		for _, c := range counts(r.Claims) {
			parts = append(parts, fmt.Sprintf("%d %s", c.N, c.Verdict))
		}
		fmt.Fprintf(&b, "%s: %d claims, %s.\n", r.Name, len(r.Claims), strings.Join(parts, ", "))
	}
	if _, err := io.WriteString(to, b.String()); err != nil {
		return fmt.Errorf("write table of claims: %w", err)
	}
	return nil
}

// claimOrder lists every claim once, in the order of the first results that have it.
func claimOrder(results []Judgement) []claimKey {
	var all []claimKey
	for _, r := range results {
		for _, j := range r.Claims {
			if k := (claimKey{j.Figure, j.Text}); !slices.Contains(all, k) {
				all = append(all, k)
			}
		}
	}
	return all
}

func claimRow(k claimKey, results []Judgement, causes Causes) string {
	var first *Judged
	cells, why := "", ""
	for _, r := range results {
		i := slices.IndexFunc(r.Claims, func(j Judged) bool { return j.Figure == k.figure && j.Text == k.text })
		if i < 0 {
			cells += " |"
			continue
		}
		j := &r.Claims[i]
		if first == nil {
			first = j
		}
		cells += " " + verdictCell(j) + " |"
		switch j.Verdict {
		case Fail:
			why = causes[k]
		case NotTestable:
			why = j.Why
		case Pass: // what must be said beside it, if anything
			why = cmp.Or(why, j.Why)
		case Fitted:
		}
	}
	return fmt.Sprintf("| %s | %s | %s | %s |%s %s |\n", k.figure, k.text, first.Paper, first.Tolerance, cells, why)
}

func verdictCell(j *Judged) string {
	word := string(j.Verdict)
	if j.Verdict == Fail {
		word = "**" + word + "**"
	}
	if j.Value == "-" {
		return word
	}
	return word + " " + j.Value
}
